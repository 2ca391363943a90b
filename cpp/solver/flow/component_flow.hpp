// A maximum flow from excess to deficit inside one component: first along a tree, then by level
// pushes, then by augmenting paths.
#pragma once

#include <cstdint>

#include "solver/flow/augmenting_paths.hpp"
#include "solver/flow/flow_state.hpp"
#include "solver/flow/level_push.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

class ComponentFlow {
  public:
    // On entry the vertices of the component are free, in breadth-first order, and have their
    // excess.
    AugmentingPaths::End run(FlowState& state, const Component& component, WorkBudget& budget);

    std::int64_t n_paths() const { return paths_.n_paths; }
    std::int64_t path_arcs() const { return paths_.path_arcs; }
    std::int64_t n_level_pushes() const { return level_push_.n_level_pushes; }

  private:
    AugmentingPaths paths_;
    LevelPush level_push_;
};

}  // namespace graphtv

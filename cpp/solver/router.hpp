// A maximum flow from excess to deficit inside one component: what a tree can carry at once, then
// waves, then augmenting paths.
#pragma once

#include <cstdint>

#include "solver/augmenting_paths.hpp"
#include "solver/flow_state.hpp"
#include "solver/pulse.hpp"
#include "solver/waves.hpp"

namespace graphtv {

class Router {
  public:
    // On entry the component's vertices are free in breadth-first order and have their excess.
    AugmentingPaths::End run(FlowState& state, const Component& component, Travellers travellers,
                             Pulse& pulse);

    std::int64_t n_paths() const { return paths_.n_paths; }
    std::int64_t path_arcs() const { return paths_.path_arcs; }
    std::int64_t n_waves() const { return waves_.n_waves; }

  private:
    AugmentingPaths paths_;
    Waves waves_;
};

}  // namespace graphtv

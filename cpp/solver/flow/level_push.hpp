// Level push: moves flow from excess to deficit level by level, for a whole component at once.
//
// A breadth-first search over residual arcs numbers the vertices by their distance to the nearest
// deficit; then, from the farthest level to the nearest, each vertex hands its excess down. What
// gets stuck stays where it is: excess may lie anywhere. The mirror image starts at the excess
// and pulls the deficits. A level push costs a pass over the component; an augmenting path costs its
// length. So level pushes pay off where the distances, summed over all excess, exceed the number of
// arcs.
#pragma once

#include <cstdint>

#include "solver/flow/flow_state.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

class LevelPush {
  public:
    // Pushes while the distances, summed over all excess, exceed `threshold` times the number of
    // vertices. Returns false if the budget ended it early.
    bool run(FlowState& state, const Component& component, double threshold, WorkBudget& budget);

    std::int64_t n_level_pushes = 0;

  private:
    template <Side from>
    bool sweep(FlowState& state, const Component& component, double threshold, WorkBudget& budget);
};

}  // namespace graphtv

// Level push: moves flow from excess to deficit level by level, for a whole component at once.
//
// A breadth-first search over residual arcs labels the vertices with their distance to the nearest
// deficit. Then, from the farthest level to the nearest, each vertex passes its excess down. Excess
// that gets stuck stays where it is, at any vertex. The mirror image starts at the excess and pulls
// the deficits. A level push costs a pass over the component; an augmenting path costs its length.
// So level pushes are faster if the sum of the distances over all excess exceeds the number of
// arcs.
#pragma once

#include <cstdint>

#include "solver/flow/flow_state.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

class LevelPush {
  public:
    // Pushes while the sum of the distances over all excess exceeds `threshold` times the number of
    // vertices. Returns false if the budget ended it early.
    bool run(FlowState& state, const Component& component, double threshold, WorkBudget& budget);

    std::int64_t n_level_pushes = 0;

  private:
    template <Side from>
    bool sweep(FlowState& state, const Component& component, double threshold, WorkBudget& budget);
};

}  // namespace graphtv

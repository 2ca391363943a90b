// Waves: flow pushed from excess to deficit level by level, for a whole component at once.
//
// A breadth-first search over residual arcs numbers the vertices by their distance to the nearest
// deficit; then, from the farthest level to the nearest, each vertex hands its excess down. What
// gets stuck stays where it is: excess may lie anywhere. The mirror wave starts at the excess and
// pulls the deficits. A wave costs a pass over the component; a path costs its length. So waves pay
// where the distances, summed over all excess, exceed the number of arcs.
#pragma once

#include <cstdint>

#include "solver/flow_state.hpp"
#include "solver/pulse.hpp"

namespace graphtv {

class Waves {
  public:
    // False if it ended early. A wave must find distances that, summed over all excess, exceed
    // `threshold` times the number of vertices.
    bool run(FlowState& state, const Component& component, double threshold, Travellers travellers,
             Pulse& pulse);

    std::int64_t n_waves = 0;

  private:
    template <Side from>
    bool sweep(FlowState& state, const Component& component, double threshold, Pulse& pulse);
};

}  // namespace graphtv

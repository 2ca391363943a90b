// A minimum cut and a flow that proves it, starting from any flow.
#pragma once

#include <span>

#include "cut/residual_network.hpp"

namespace graphtv {

// Moves as much excess as possible to deficits. `side` becomes true on the source side of a minimum
// cut, which has all remaining excess and no deficit. With int64 the result is exact; the sum of
// the two capacities of an edge must be below 2⁶³. Returns false if the watch ends the search
// early: the flow is feasible, but `side` proves nothing.
//
// `gathers` allows the remaining excess to end up at other vertices than those where it started,
// which is much faster if all paths are long.
template <class Value>
bool minimum_cut(const FlowProblem<Value>& problem, std::span<bool> side, bool gathers,
                 Watch& watch);

}  // namespace graphtv

// A minimum cut and a flow that proves it, starting from any flow.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "cut/incremental_search.hpp"
#include "cut/residual_network.hpp"

namespace graphtv {

struct CutOptions {
    // The number of scanned arcs after which the search stops.
    std::uint64_t most_looks = std::numeric_limits<std::uint64_t>::max();
    // Whether excess and deficits may end up at other vertices than those where they started.
    bool passes = false;
};

// Moves as much excess as possible to deficits. `side` becomes true on the source side of a minimum
// cut, which has all remaining excess and no deficit. With int64 the result is exact; the sum of
// the two capacities of an edge must be below 2⁶³. If the options or the watch end the search
// early, the flow is feasible, but `side` proves nothing.
template <class Value>
CutEnd minimum_cut(const FlowProblem<Value>& problem, std::span<bool> side,
                   const CutOptions& options, Watch& watch);

}  // namespace graphtv

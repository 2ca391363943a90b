// A minimum cut and a flow that proves it, from any flow on.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "cut/incremental_search.hpp"
#include "cut/residual_network.hpp"

namespace graphtv {

struct CutOptions {
    // Looks at arcs after which to give up.
    std::uint64_t most_looks = std::numeric_limits<std::uint64_t>::max();
    // Whether excess and deficits may be left at other vertices than where they were.
    bool passes = false;
};

// Moves as much excess as possible to deficits. `side` becomes true on the source side of a minimum
// cut: it has all excess that is left, and no deficit. With int64 the capacities of an edge must have a
// sum below 2⁶³, and everything is exact. Ended early, by its options or by the watch, it leaves a
// feasible flow, and a side that proves nothing.
template <class Value>
CutEnd minimum_cut(const FlowProblem<Value>& problem, std::span<bool> side,
                   const CutOptions& options, Watch& watch);

}  // namespace graphtv

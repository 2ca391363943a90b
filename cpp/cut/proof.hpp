// What a cut costs, and what no cut can be below by a flow: the proof of a minimum cut.
//
// With S the source side, a cut costs Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ_{i∈S, j∉S} c_ij, and no cut less
// than Σ_i min(s_i, t_i + out_i), where out_i is what a feasible flow takes out of i in all.
#pragma once

#include <cstdint>
#include <span>

#include "graph/types.hpp"

namespace graphtv {

// Whole capacities, whose sum must be below 2⁶².
struct CutCapacities {
    EdgeList graph;
    std::span<const std::int64_t> forward, backward;  // by edge
    std::span<const std::int64_t> source, sink;       // by vertex
};

std::int64_t cut_value(const CutCapacities& capacities, std::span<const bool> side);

// The flow goes from tail to head. Throws std::invalid_argument if it exceeds a capacity.
std::int64_t flow_bound(const CutCapacities& capacities, std::span<const std::int64_t> flow);

}  // namespace graphtv

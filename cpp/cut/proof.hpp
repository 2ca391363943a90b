// The cost of a cut, and the lower bound that a flow gives for every cut: the proof of a minimum
// cut.
//
// With S the source side, a cut costs Σ_{i∉S} s_i + Σ_{i∈S} t_i + Σ_{i∈S, j∉S} c_ij. No cut costs
// less than Σ_i min(s_i, t_i + out_i), where out_i is the net flow out of i of a feasible flow.
#pragma once

#include <cstdint>
#include <span>

#include "graph/types.hpp"

namespace graphtv {

// Integer capacities, whose sum must be below 2⁶².
struct CutCapacities {
    EdgeList graph;
    std::span<const std::int64_t> forward, backward;  // by edge
    std::span<const std::int64_t> source, sink;       // by vertex
};

std::int64_t cut_value(const CutCapacities& capacities, std::span<const bool> side);

// The flow goes from tail to head. Throws std::invalid_argument if it exceeds a capacity.
std::int64_t flow_bound(const CutCapacities& capacities, std::span<const std::int64_t> flow);

}  // namespace graphtv

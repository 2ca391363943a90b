// The order in which edges are assigned to forests: by descending weight.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// Edges by descending weight; equal weights keep their order. Weights must not be negative. This is
// a radix sort of the bit patterns, which sort like the numbers: O(m). Calls `interrupt` at regular
// intervals; it may throw.
std::vector<EdgeIndex> heaviest_first(
    std::span<const double> weights, const std::function<void()>& interrupt = [] {});

}  // namespace graphtv

// The order in which edges are offered to forests: by descending weight.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// Edges by descending weight, equal ones in their order; weights must not be negative. A radix sort
// of the bits, which are in the order of the numbers: O(m), and `interrupt` is called now and then,
// which may throw.
std::vector<EdgeIndex> heaviest_first(
    std::span<const double> weights, const std::function<void()>& interrupt = [] {});

}  // namespace graphtv

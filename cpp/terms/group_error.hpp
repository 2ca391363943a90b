// Bounds on the rounding errors of norms of groups.
#pragma once

#include <cstddef>

#include "terms/divergence.hpp"

namespace graphtv {

// The relative error of a norm of this many entries, each a product of a weight and a difference,
// and of a few operations with it.
inline double norm_error(std::size_t size) {
    return (16.0 + static_cast<double>(size)) * unit_roundoff;
}

// Sums of squares in this range are accurate: they neither overflow nor lose digits to underflow.
inline constexpr double least_square = 1e-200, greatest_square = 1e200;

}  // namespace graphtv

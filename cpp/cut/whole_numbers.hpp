// Integers in floating point, and exact sums of integers.
#pragma once

#include <cstdint>
#include <span>

namespace graphtv {

// Converts the values to integers. Returns false if one of them has a fraction or is not below 2⁶³
// in magnitude.
bool to_whole(std::span<const double> values, std::span<std::int64_t> whole);

// high * 2³² + low: the exact sum of fewer than 2³¹ integers of any size.
struct WideSum {
    std::int64_t high = 0, low = 0;
};
WideSum wide_sum(std::span<const std::int64_t> values);

}  // namespace graphtv

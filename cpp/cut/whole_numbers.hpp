// Whole numbers without rounding: as floats, and their sums.
#pragma once

#include <cstdint>
#include <span>

namespace graphtv {

// Fills in the values as integers. False if one of them has a fraction, or is not below 2⁶³ in size.
bool to_whole(std::span<const double> values, std::span<std::int64_t> whole);

// high * 2³² + low: a sum of fewer than 2³¹ integers, however large.
struct WideSum {
    std::int64_t high = 0, low = 0;
};
WideSum wide_sum(std::span<const std::int64_t> values);

}  // namespace graphtv

// Conversion of a problem to single precision, in units of the range of its data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace graphtv {

// Larger ratios in the data have no effect in single precision. The limit keeps them finite.
inline float single(double value) {
    constexpr double largest = 1e30;
    return static_cast<float>(std::min(std::max(value, -largest), largest));
}

// The smallest and the largest value, in independent lanes.
inline std::pair<double, double> range_of(std::span<const double> values) {
    constexpr std::size_t n_lanes = 4;
    std::array<double, n_lanes> least, most;
    least.fill(values[0]);
    most.fill(values[0]);
    for (std::size_t i = 0; i < values.size(); ++i) {
        least[i % n_lanes] = std::min(least[i % n_lanes], values[i]);
        most[i % n_lanes] = std::max(most[i % n_lanes], values[i]);
    }
    return {std::ranges::min(least), std::ranges::max(most)};
}

}  // namespace graphtv

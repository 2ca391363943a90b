#include "terms/largest_size.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "parallel/each_cpu.hpp"

namespace graphtv {

// Without their sign, the bits of doubles are integers in the same order: those of infinity are above
// all finite ones, and those of NaN above both.
GRAPHTV_FOR_EACH_CPU
double largest_size(std::span<const double> values) {
    const double* data = values.data();
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = std::bit_cast<std::int64_t>(data[i]) & 0x7fff'ffff'ffff'ffff;
        largest = bits > largest ? bits : largest;
    }
    return std::bit_cast<double>(largest);
}

}  // namespace graphtv

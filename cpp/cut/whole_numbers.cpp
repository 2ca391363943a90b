#include "cut/whole_numbers.hpp"

#include <cmath>
#include <cstddef>

namespace graphtv {

bool to_whole(std::span<const double> values, std::span<std::int64_t> whole) {
    constexpr double beyond = 0x1p63;
    bool is_whole = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = std::abs(values[i]) < beyond ? values[i] : 0.5;
        whole[i] = static_cast<std::int64_t>(value);
        is_whole &= static_cast<double>(whole[i]) == value;
    }
    return is_whole;
}

WideSum wide_sum(std::span<const std::int64_t> values) {
    WideSum sum;
    for (const std::int64_t value : values) {
        sum.high += value >> 32;
        sum.low += value & 0xFFFFFFFF;
    }
    return sum;
}

}  // namespace graphtv

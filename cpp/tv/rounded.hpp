// Dual points in a quarter of the memory: p as a multiple of 1/32767. The values 0 and ±1 are
// exact.
#pragma once

#include <cmath>
#include <cstdint>

namespace graphtv {

using Rounded = std::int16_t;

constexpr double finest = 32767.0;

inline Rounded rounded(double p) { return static_cast<Rounded>(std::lrint(p * finest)); }

inline double value_of(double p) { return p; }
inline double value_of(Rounded p) { return p / finest; }

}  // namespace graphtv

// The size of numbers.
#pragma once

#include <span>

namespace graphtv {

// The greatest absolute value, 0 without any; infinite or NaN if there is such a number.
double largest_size(std::span<const double> values);

}  // namespace graphtv

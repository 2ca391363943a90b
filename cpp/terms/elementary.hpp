// Exponentials, logarithms and powers with the same bits on every processor.
//
// The C library and NumPy select among several implementations by the processor, and these differ
// in the last bit. The functions here consist of IEEE additions, multiplications and divisions,
// which the build does not contract.
//
// quick_log and quick_exp have no branches, calls or tables, so that compilers vectorise loops over
// them without a change of bits. The other functions accept all arguments. All but `power` are
// accurate to two units in the last place, or to four where `exp` is above e^700 or below e^-700.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace graphtv {

namespace elementary {

// The logarithm of 2 as a sum: a number with trailing zeros, so that products with exponents are
// exact, and the rest.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

// 2⁵²: adding it to a small integer moves that integer to the lowest bits.
inline constexpr double shifter = 0x1p52;

}  // namespace elementary

// log x for normal x > 0. With x = 2ᵉ m, √½ < m < √2, and s = (m - 1)/(m + 1),
// log x = e log 2 + 2 (s + s³/3 + s⁵/5 + …), where s² < 0.0295.
inline double quick_log(double x) {
    using namespace elementary;
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    // The exponent counts from √½: adding the difference to 1 carries over where m ≥ √2.
    constexpr std::uint64_t to_root = 0x3ff0000000000000 - 0x3fe6a09e667f3bcd;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + to_root;
    const double e = std::bit_cast<double>((bits >> 52) | std::bit_cast<std::uint64_t>(shifter)) -
                     (shifter + 1023.0);
    const double m = std::bit_cast<double>((bits & fraction) + 0x3fe6a09e667f3bcd);
    const double f = m - 1.0, s = f / (m + 1.0), z = s * s;
    double sum = 2.0 / 21;
    sum = sum * z + 2.0 / 19;
    sum = sum * z + 2.0 / 17;
    sum = sum * z + 2.0 / 15;
    sum = sum * z + 2.0 / 13;
    sum = sum * z + 2.0 / 11;
    sum = sum * z + 2.0 / 9;
    sum = sum * z + 2.0 / 7;
    sum = sum * z + 2.0 / 5;
    sum = sum * z + 2.0 / 3;
    // 2s = f - s f: the rounding errors are small compared with f.
    const double tail = s * (z * sum - f) + e * ln2_low;
    return e * ln2_high + (f + tail);
}

// exp x for |x| ≤ 700. With n the integer next to x / log 2, exp x = 2ⁿ exp(x - n log 2), and the
// argument is at most 0.35.
inline double quick_exp(double x) {
    using namespace elementary;
    constexpr double per_ln2 = 0x1.71547652b82fep+0, rounder = 1.5 * shifter;
    const double shifted = x * per_ln2 + rounder, n = shifted - rounder;
    const double r = (x - n * ln2_high) - n * ln2_low;
    double sum = 1.0 / 6227020800.0;  // 1/13!
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    const double power =
        std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
    return power + power * (r + r * r * sum);
}

namespace elementary {

// exp x for every x.
inline double exp(double x) {
    if (!(std::abs(x) > 700.0)) return quick_exp(x);  // NaN too
    const double root = quick_exp(0.5 * std::clamp(x, -800.0, 800.0));
    return root * root;
}

// log x for every x: -∞ at 0, NaN below.
inline double log(double x) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (x == 0.0) return -infinity;
    if (x < 0.0) return std::numeric_limits<double>::quiet_NaN();
    if (!(x < infinity)) return x;
    if (x >= std::numeric_limits<double>::min()) return quick_log(x);
    return quick_log(x * 0x1p54) - 54.0 * (ln2_high + ln2_low);
}

// log(1 + x). With the rounded sum s = 1 + x, log(1 + x) = log s + log(1 + (x - (s - 1))/s).
inline double log1p(double x) {
    const double s = 1.0 + x;
    if (s == 1.0) return x;
    if (!(s > 0.0 && s < std::numeric_limits<double>::infinity())) return log(s);
    return quick_log(s) + (x - (s - 1.0)) / s;
}

// exp(x) - 1, for small x by the series x (1 + x/2 (1 + x/3 (1 + …))).
inline double expm1(double x) {
    if (std::abs(x) > 0.5) return exp(x) - 1.0;
    double sum = 1.0;
    for (double k = 17.0; k >= 2.0; --k) sum = 1.0 + x / k * sum;
    return x * sum;
}

// x^y for x ≥ 0, with a relative error of about |y log x| units in the last place; exact for y =
// ±1, 0 and rounded once for y = 2.
inline double power(double x, double y) {
    if (y == 1.0) return x;
    if (y == -1.0) return 1.0 / x;
    if (y == 0.0) return 1.0;
    if (y == 2.0) return x * x;
    return exp(y * log(x));
}

// √(x² + y²) without overflow.
inline double hypot(double x, double y) {
    const double larger = std::max(std::abs(x), std::abs(y));
    if (larger == 0.0 || std::isinf(larger)) return larger;
    const double ratio = std::min(std::abs(x), std::abs(y)) / larger;
    return larger * std::sqrt(1.0 + ratio * ratio);
}

}  // namespace elementary

}  // namespace graphtv

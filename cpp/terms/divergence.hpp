// Differences between convex functions and their tangents, which are nonnegative, computed without
// cancellation. Also the constants that bound their rounding errors. The section "Certificates" of
// docs/theory/solver.md explains how they are used.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "terms/elementary.hpp"

namespace graphtv {

// Half a unit in the last place of 1: the relative error of one operation.
inline constexpr double unit_roundoff = 0x1p-53;

// Relative error of a formula below, and of a few operations around it.
inline constexpr double formula_error = 0x1p-44;

// An upper bound of what any product in the formulas loses to underflow.
inline constexpr double underflow_floor = 0x1p-1000;

// An upper bound of a b ≥ 0 that allows for underflow; exact if a factor is 0.
inline double product_above(double a, double b) {
    return a * b + ((a != 0.0) & (b != 0.0) ? underflow_floor : 0.0);
}

// Σ_{k ≥ 2} (-x)^k / k, or the same with k (k - 1), for |x| < series_limit.
inline constexpr double series_limit = 0.02;

// x - log(1 + x), x > -1.
inline double log_divergence(double x) {
    if (std::abs(x) >= series_limit) return x - elementary::log1p(x);
    double sum = 0.0;
    for (int k = 10; k >= 2; --k) sum = sum * -x + 1.0 / k;
    return sum * x * x;
}

// (1 + x) log(1 + x) - x, x ≥ -1.
inline double entropy_divergence(double x) {
    if (x <= -1.0) return 1.0;
    if (std::abs(x) >= series_limit) return (1.0 + x) * elementary::log1p(x) - x;
    double sum = 0.0;
    for (int k = 10; k >= 2; --k) sum = sum * -x + 1.0 / (k * (k - 1));
    return sum * x * x;
}

// With h(r) = r²/2 up to δ and δ(|r| - δ/2) beyond: h(r) + y²/2 - y r for 0 ≤ y ≤ δ.
inline double huber_divergence(double r, double y, double delta) {
    if (r > delta) return (delta - y) * (r - 0.5 * (delta + y));
    if (r < -delta) return (delta + y) * (-r - 0.5 * (delta - y));
    return 0.5 * (r - y) * (r - y);
}

// The Kullback-Leibler divergence of two Bernoulli distributions, t log(t/q) + (1 - t) log((1 -
// t)/(1 - q)), where q = 1/(1 + exp(v)). q and 1 - q are computed separately, so that neither loses
// digits. If one of them underflows, its logarithm is -|v|.
inline double coin_divergence(double t, double v) {
    constexpr double tiny_share = 700.0;  // |v| from which exp(-|v|) is next to underflow
    const double q = 1.0 / (1.0 + elementary::exp(v)), rest = 1.0 / (1.0 + elementary::exp(-v));
    const double more = t - q;
    const auto side = [](double share, double change) {
        return share > 0.0 ? share * entropy_divergence(change / share) : 0.0;
    };
    const auto tiny_side = [](double t, double v) {
        return t > 0.0 ? std::max(t * (elementary::log(t) + v - 1.0), 0.0) : 0.0;
    };
    if (v < -tiny_share) return side(q, more) + tiny_side(1.0 - t, -v);
    if (v > tiny_share) return tiny_side(t, v) + side(rest, -more);
    return side(q, more) + side(rest, -more);
}

}  // namespace graphtv

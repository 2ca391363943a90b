// The penalty of one edge in one channel, h(x) = |x| for δ = 0. For δ > 0 it is Huber's relaxation:
// x²/(2δ) up to δ, and |x| - δ/2 beyond. Its conjugate is δ/2 p² where |p| ≤ 1, and infinite elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphtv {

struct EdgePenalty {
    double delta = 0.0;

    bool is_huber() const { return delta > 0.0; }

    double value(double x) const {
        const double size = std::abs(x);
        return size < delta ? 0.5 * size * (size / delta) : size - 0.5 * delta;
    }

    // Also infinite if p is NaN.
    double conjugate(double p) const {
        return std::abs(p) <= 1.0 ? 0.5 * delta * p * p : std::numeric_limits<double>::infinity();
    }

    // argmin over p of h*(p) + (p - v)²/(2 step).
    double prox_conjugate(double v, double step) const {
        if (delta > 0.0) v /= 1.0 + delta * step;
        return std::clamp(v, -1.0, 1.0);
    }

    // h(x)/t as a function of x/t: the same penalty in other units.
    EdgePenalty over(double t) const { return {delta / t}; }
};

}  // namespace graphtv

// The Poisson loss G(u) = Σ_i c_i (u_i - f_i log u_i) over u ≥ 0 with counts f_i ≥ 0 (0 log 0 = 0)
// and c_i ≥ 0; c_i = 0 where there is no data. The domain [a, b] is the range of the counts, or
// given.
//
//     G_i*(s): at u = f / (1 - s/c), clipped; at b for s ≥ c
//     prox: the positive root of u² - (v - τc) u - τcf = 0, clipped
#pragma once

#include "terms/elementary.hpp"
#include "terms/entrywise.hpp"

namespace graphtv {

class PoissonTerm final : public EntrywiseTerm<PoissonTerm, SmoothTerm> {
  public:
    // u and f are divided by the unit. The objective is that of u times the unit.
    PoissonTerm(TermShape shape, std::span<const double> counts, std::span<const double> weights,
                double unit = 1.0, std::optional<Interval> domain = {});

    double value_at(std::size_t i, double u) const {
        const double c = weights_[i], f = counts_[i];
        if (c == 0.0) return 0.0;
        if (u < 0.0) return std::numeric_limits<double>::infinity();
        return f > 0.0 ? c * (u - f * (elementary::log(u) + log_unit_)) : c * u;
    }
    double maximizer_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return domain_.maximizer(s);
        return s < c ? domain_.clip(counts_[i] * (c / (c - s))) : domain_.upper;
    }
    double conjugate_at(std::size_t i, double s) const {
        const double u = maximizer_at(i, s);
        return weights_[i] == 0.0 ? s * u : s * u - value_at(i, u);
    }
    // With w the maximiser, the excess is c f (u/w - 1 - log(u/w)) + (G_i'(w) - s)(u - w).
    double excess_at(std::size_t i, double u, double s) const {
        const double c = weights_[i], f = counts_[i];
        if (c == 0.0) return domain_.excess(u, s);
        if (u < 0.0 || (f > 0.0 && u == 0.0)) return std::numeric_limits<double>::infinity();
        const double w = maximizer_at(i, s);
        if (f == 0.0) return c == s ? 0.0 : (c - s) * (u - w);
        const double curved = product_above(c * f, log_divergence((u - w) / w));
        const bool is_inside = s < c && w > domain_.lower && w < domain_.upper;
        return is_inside ? curved : curved + (derivative(i, w) - s) * (u - w);
    }
    double excess_error_at(std::size_t i, double, double s) const {
        return weights_[i] > 0.0 ? 16.0 * unit_roundoff * (weights_[i] + std::abs(s)) : 0.0;
    }
    double rate_at(std::size_t i) const { return weights_[i]; }
    double extra_size_at(std::size_t i) const {
        return log_unit_ == 0.0 ? 0.0 : 4.0 * weights_[i] * counts_[i] * std::abs(log_unit_);
    }
    double prox_at(std::size_t i, double v, double step) const {
        if (weights_[i] == 0.0) return domain_.clip(v);
        const double a = finite_product(step, weights_[i]), f = counts_[i];
        if (a > 0x1p60 * (std::abs(v) + f)) return f;  // to the last bit
        // The form of the root that avoids cancellation, for either sign of b = v - τc; q² = 4τcf.
        const double b = v - a, q = 2.0 * std::sqrt(a) * std::sqrt(f);
        const double r = elementary::hypot(b, q);
        return domain_.clip(b >= 0.0 ? 0.5 * b + 0.5 * r : q / (r - b) * (0.5 * q));
    }

    double derivative(std::size_t i, double u) const override {
        const double c = weights_[i], f = counts_[i];
        return c > 0.0 && f > 0.0 ? c * (1.0 - f / u) : c;  // without data 0, even at u = 0
    }
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    double strong_convexity() const override { return strong_convexity_; }
    Interval domain() const override { return domain_; }

  private:
    Entries counts_, weights_;
    Interval domain_;
    double strong_convexity_;
    double log_unit_;
};

}  // namespace graphtv

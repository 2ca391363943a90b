// The Poisson loss G(u) = Σ_i c_i (u_i - f_i log u_i) over u ≥ 0 with counts f_i ≥ 0 (0 log 0 = 0)
// and c_i ≥ 0; c_i = 0 where there is no data. The domain [a, b] is the range of the counts.
//
//     G_i*(s): at u = f / (1 - s/c), clipped; at b for s ≥ c
//     prox: the positive root of u² - (v - τc) u - τcf = 0, clipped
#pragma once

#include "terms/elementary.hpp"
#include "terms/entrywise.hpp"

namespace graphtv {

class PoissonTerm final : public EntrywiseTerm<PoissonTerm, SmoothTerm> {
  public:
    PoissonTerm(TermShape shape, std::span<const double> counts, std::span<const double> weights);

    double value_at(std::size_t i, double u) const {
        const double c = weights_[i], f = counts_[i];
        if (c == 0.0) return 0.0;
        if (u < 0.0) return std::numeric_limits<double>::infinity();
        return f > 0.0 ? c * (u - f * elementary::log(u)) : c * u;
    }
    double conjugate_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return s * domain_.maximizer(s);
        const double f = counts_[i];
        const double u = s < c ? domain_.clip(f * (c / (c - s))) : domain_.upper;
        return s * u - value_at(i, u);
    }
    double prox_at(std::size_t i, double v, double step) const {
        if (weights_[i] == 0.0) return domain_.clip(v);
        // The root that does not cancel, for either sign of b = v - τc; q² = 4τcf.
        const double a = finite_product(step, weights_[i]);
        const double b = v - a, q = 2.0 * std::sqrt(a) * std::sqrt(counts_[i]);
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
};

}  // namespace graphtv

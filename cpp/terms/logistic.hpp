// The logistic loss G(u) = Σ_i c_i log(1 + exp(-y_i u_i)) with labels y_i = ±1 and c_i ≥ 0; y_i = 0
// or c_i = 0 where there is no label.
//
// The minimisers of G_i are at infinity. The domain therefore depends on the graph and is a
// parameter: an interval that contains a minimiser of G + TV. With σ = 1/(1 + exp(yu)) and t = -s y
// / c,
//
//     G_i'(u) = -c y σ,    G_i*(s): at y u = log((1 - t)/t), clipped to the domain,
//     prox: the root of x - y v = τ c / (1 + exp(x)), x = y u, by safeguarded Newton steps; clipped
#pragma once

#include "terms/elementary.hpp"
#include "terms/entrywise.hpp"

namespace graphtv {

// log(1 + exp(-x)) without overflow or cancellation.
inline double log_one_plus_exp_minus(double x) {
    return x > 0.0 ? elementary::log1p(elementary::exp(-x))
                   : elementary::log1p(elementary::exp(x)) - x;
}

// The root of x - w = a / (1 + exp(x)), a > 0.
double logistic_prox(double w, double a);

class LogisticTerm final : public EntrywiseTerm<LogisticTerm, SmoothTerm> {
  public:
    LogisticTerm(TermShape shape, std::span<const double> labels, std::span<const double> weights,
                 Interval domain);

    double value_at(std::size_t i, double u) const {
        const double c = weight(i);
        return c > 0.0 ? c * log_one_plus_exp_minus(labels_[i] * u) : 0.0;
    }
    double maximizer_at(std::size_t i, double s) const {
        const double c = weight(i);
        if (c == 0.0) return domain_.maximizer(s);
        const double y = labels_[i], t = -s * y / c;
        return t <= 0.0   ? domain_.maximizer(y)
               : t >= 1.0 ? domain_.maximizer(-y)
                          : domain_.clip(y * (elementary::log1p(-t) - elementary::log(t)));
    }
    double conjugate_at(std::size_t i, double s) const {
        const double c = weight(i);
        if (c == 0.0) return s * domain_.maximizer(s);
        const double y = labels_[i], t = -s * y / c, u = maximizer_at(i, s);
        if (std::isinf(u))  // an unrestricted domain: the plain conjugate at and beyond its ends
            return t == 0.0 || t == 1.0 ? 0.0 : std::numeric_limits<double>::infinity();
        return s * u - value_at(i, u);
    }
    // With σ at the maximiser, the excess is the coin divergence plus (t - σ)(y u - y maximizer).
    double excess_at(std::size_t i, double u, double s) const {
        const double c = weight(i);
        if (c == 0.0) return domain_.excess(u, s);
        const double y = labels_[i], t = -s * y / c, best = maximizer_at(i, s);
        if (std::isinf(best)) return std::numeric_limits<double>::infinity();
        const bool is_inside = t > 0.0 && t < 1.0 && best > domain_.lower && best < domain_.upper;
        const double share = is_inside ? t : 1.0 / (1.0 + elementary::exp(y * best));
        return c * coin_divergence(share, y * u) + c * (t - share) * (y * (u - best));
    }
    double excess_error_at(std::size_t i, double, double s) const {
        return 16.0 * unit_roundoff * (weight(i) > 0.0 ? weight(i) + std::abs(s) : 0.0);
    }
    double prox_at(std::size_t i, double v, double step) const {
        const double c = weight(i), y = labels_[i];
        if (c == 0.0) return domain_.clip(v);
        return domain_.clip(y * logistic_prox(y * v, finite_product(step, c)));
    }

    double derivative(std::size_t i, double u) const override {
        const double c = weight(i), y = labels_[i];
        return c > 0.0 ? -c * y / (1.0 + elementary::exp(y * u)) : 0.0;
    }
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    double strong_convexity() const override { return strong_convexity_; }
    Interval domain() const override { return domain_; }

  private:
    double weight(std::size_t i) const { return labels_[i] == 0.0 ? 0.0 : weights_[i]; }

    Entries labels_, weights_;
    Interval domain_;
    double strong_convexity_;
};

}  // namespace graphtv

// Huber's loss G(u) = Σ_i c_i h(u_i - f_i), h(r) = r²/2 up to δ and δ(|r| - δ/2) beyond, c_i ≥ 0;
// c_i = 0 where there is no data. The domain is the range of the signal, or given.
//
//     G_i*(s): at u = f + s/c for |s| ≤ cδ, else at the end of the domain on the side of s; clipped
//     prox: (v + τ c f)/(1 + τ c) while |v - f| ≤ δ(1 + τ c), else v ∓ τ c δ; clipped
#pragma once

#include "terms/entrywise.hpp"

namespace graphtv {

class HuberTerm final : public EntrywiseTerm<HuberTerm, SmoothTerm> {
  public:
    HuberTerm(TermShape shape, std::span<const double> signal, std::span<const double> weights,
              double delta, std::optional<Interval> domain = {});

    double value_at(std::size_t i, double u) const {
        const double r = std::abs(u - signal_[i]);
        return weights_[i] * (r <= delta_ ? 0.5 * r * r : delta_ * (r - 0.5 * delta_));
    }
    double conjugate_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return s * domain_.maximizer(s);
        const double u =
            std::abs(s) <= c * delta_ ? domain_.clip(signal_[i] + s / c) : domain_.maximizer(s);
        return s * u - value_at(i, u);
    }
    double maximizer_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return domain_.maximizer(s);
        return std::abs(s) <= c * delta_ ? domain_.clip(signal_[i] + s / c) : domain_.maximizer(s);
    }
    // For s ≥ 0, let y = s/c, let b be the upper end of the domain, and let y₀ = min(y, δ, b - f)
    // be the slope at the maximiser. The excess is that for y₀ plus (y - y₀)(b - u). For s < 0 all
    // signs change.
    double excess_at(std::size_t i, double u, double s) const {
        const double c = weights_[i], f = signal_[i];
        if (c == 0.0) return domain_.excess(u, s);
        const bool falls = s < 0.0;
        const double along = falls ? f - u : u - f, y = std::abs(s) / c;
        const double room = falls ? f - domain_.lower : domain_.upper - f;
        const double left = falls ? u - domain_.lower : domain_.upper - u;
        const double slope = std::min({y, delta_, room});
        return product_above(c, huber_divergence(along, slope, delta_)) +
               (y > slope ? c * (y - slope) * left : 0.0);
    }
    double excess_error_at(std::size_t i, double u, double s) const {
        return 4.0 * unit_roundoff * (std::abs(s) + weights_[i] * std::abs(u - signal_[i]));
    }
    double prox_at(std::size_t i, double v, double step) const {
        if (weights_[i] == 0.0) return domain_.clip(v);
        const double f = signal_[i], a = finite_product(step, weights_[i]);
        const double r = v - f;
        return domain_.clip(std::abs(r) <= delta_ * (1.0 + a) ? weighted_mean(v, f, a)
                                                              : v - std::copysign(a * delta_, r));
    }

    double derivative(std::size_t i, double u) const override {
        return weights_[i] * Interval{-delta_, delta_}.clip(u - signal_[i]);
    }
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    Interval domain() const override { return domain_; }

  private:
    Entries signal_, weights_;
    Interval domain_;
    double delta_;
};

}  // namespace graphtv

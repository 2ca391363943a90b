// The absolute loss G(u) = Σ_i c_i |u_i - f_i|, c_i ≥ 0; c_i = 0 where there is no data. The domain
// [a, b] is the range of the signal.
//
//     G_i*(s) = s f for |s| ≤ c, else s·b - c (b - f) for s > c, s·a - c (f - a) for s < -c
//     prox: f if |v - f| ≤ τ c, else v ∓ τ c; clipped
#pragma once

#include "terms/entrywise.hpp"

namespace graphtv {

class AbsoluteTerm final : public EntrywiseTerm<AbsoluteTerm, SeparableTerm> {
  public:
    AbsoluteTerm(TermShape shape, std::span<const double> signal, std::span<const double> weights);

    double value_at(std::size_t i, double u) const {
        return weights_[i] * std::abs(u - signal_[i]);
    }
    double conjugate_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return s * domain_.maximizer(s);
        const double u = s > c ? domain_.upper : s < -c ? domain_.lower : signal_[i];
        return s * u - value_at(i, u);
    }
    double maximizer_at(std::size_t i, double s) const {
        const double c = weights_[i];
        if (c == 0.0) return domain_.maximizer(s);
        return s > c ? domain_.upper : s < -c ? domain_.lower : signal_[i];
    }
    // Let r = u - f, and let b be the end of the domain on the side of s. The excess is c |r| - s r
    // + (|s| - c)₊ |b - f|. If r has the sign of s, this is (|s| - c) |b - u|.
    double excess_at(std::size_t i, double u, double s) const {
        const double c = weights_[i], f = signal_[i];
        if (c == 0.0) return domain_.excess(u, s);
        const double along = s < 0.0 ? f - u : u - f, size = std::abs(s), beyond = size - c;
        const double end = s < 0.0 ? domain_.lower : domain_.upper;
        if (along >= 0.0)
            return beyond > 0.0 ? product_above(beyond, (s < 0.0 ? u - end : end - u))
                                : product_above(-beyond, along);
        return product_above(size + c, -along) +
               (beyond > 0.0 ? product_above(beyond, std::abs(end - f)) : 0.0);
    }
    double prox_at(std::size_t i, double v, double step) const {
        if (weights_[i] == 0.0) return domain_.clip(v);
        const double f = signal_[i], a = finite_product(step, weights_[i]);
        const double d = v - f;
        return d > a ? domain_.clip(v - a) : d < -a ? domain_.clip(v + a) : f;
    }

    // A weighted median: where Σ c_i sign(m - f_i) + slope changes its sign.
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    Interval domain() const override { return domain_; }

  private:
    Entries signal_, weights_;
    Interval domain_;
};

}  // namespace graphtv

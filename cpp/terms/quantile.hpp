// The quantile loss ("pinball"): G(u) = Σ_i a_i (f_i - u_i)₊ + b_i (u_i - f_i)₊ with slopes
// a_i, b_i > 0 below and above the signal, or both 0 where there is no data. Equal slopes give the
// absolute loss. The domain [l, h] is the range of the signal, or given.
//
//     G_i*(s) = s f for -a ≤ s ≤ b, else s·h - b (h - f) for s > b, s·l - a (f - l) for s < -a
//     prox: f if -τ a ≤ v - f ≤ τ b, else v + τ a below and v - τ b above; clipped
#pragma once

#include "terms/entrywise.hpp"

namespace graphtv {

class QuantileTerm final : public EntrywiseTerm<QuantileTerm, SlopedTerm> {
  public:
    QuantileTerm(TermShape shape, std::span<const double> signal, std::span<const double> below,
                 std::span<const double> above, std::optional<Interval> domain = {});

    double value_at(std::size_t i, double u) const {
        const double r = u - signal_[i];
        return r < 0.0 ? below_[i] * -r : above_[i] * r;
    }
    double conjugate_at(std::size_t i, double s) const {
        const double u = maximizer_at(i, s);
        return s * u - (has_data(i) ? value_at(i, u) : 0.0);
    }
    double maximizer_at(std::size_t i, double s) const {
        if (!has_data(i)) return domain_.maximizer(s);
        return s > above_[i] ? domain_.upper : s < -below_[i] ? domain_.lower : signal_[i];
    }
    // Let r be u - f along the sign of s, and let the slope be c on that side of f and d on the
    // other. The excess is (c - |s|) r, or (|s| - c) times the distance from u to the end of the
    // domain if |s| > c. For r < 0 it is (|s| + d) |r|, plus (|s| - c)₊ times the distance from f.
    double excess_at(std::size_t i, double u, double s) const {
        if (!has_data(i)) return domain_.excess(u, s);
        const bool falls = s < 0.0;
        const double f = signal_[i], along = falls ? f - u : u - f, size = std::abs(s);
        const double beyond = size - (falls ? below_[i] : above_[i]);
        const double end = falls ? domain_.lower : domain_.upper;
        if (along >= 0.0)
            return beyond > 0.0 ? product_above(beyond, falls ? u - end : end - u)
                                : product_above(-beyond, along);
        return product_above(size + (falls ? above_[i] : below_[i]), -along) +
               (beyond > 0.0 ? product_above(beyond, std::abs(end - f)) : 0.0);
    }
    double prox_at(std::size_t i, double v, double step) const {
        if (!has_data(i)) return domain_.clip(v);
        const double d = v - signal_[i];
        const double rise = finite_product(step, above_[i]), fall = finite_product(step, below_[i]);
        return d > rise ? domain_.clip(v - rise) : d < -fall ? domain_.clip(v + fall) : signal_[i];
    }

    Interval slopes(std::size_t i, double u) const override {
        const double r = u - signal_[i];
        return {r > 0.0 ? above_[i] : -below_[i], r < 0.0 ? -below_[i] : above_[i]};
    }

    // A weighted quantile: where the derivative changes its sign.
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    Interval domain() const override { return domain_; }

  private:
    bool has_data(std::size_t i) const { return above_[i] > 0.0; }

    Entries signal_, below_, above_;
    Interval domain_;
};

}  // namespace graphtv

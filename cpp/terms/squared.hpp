// The squared loss G(u) = ½ Σ_i c_i (u_i - f_i)², c_i ≥ 0; c_i = 0 where there is no data.
//
//     G_i*(s) = s f + s²/(2c),    prox: (v + τ c f) / (1 + τ c)       where c > 0,
//     G_i*(s) = max of s·u over the domain,    prox: v, clipped       where c = 0.
#pragma once

#include "terms/entrywise.hpp"

namespace graphtv {

class SquaredTerm final : public EntrywiseTerm<SquaredTerm, SmoothTerm> {
  public:
    SquaredTerm(TermShape shape, std::span<const double> signal, std::span<const double> weights,
                std::optional<Interval> domain = {});

    double value_at(std::size_t i, double u) const {
        const double difference = u - signal_[i];
        return 0.5 * weights_[i] * difference * difference;
    }
    double conjugate_at(std::size_t i, double s) const {
        const double c = weights_[i];
        return c > 0.0 ? s * (signal_[i] + 0.5 * s / c) : s * domain_.maximizer(s);
    }
    double maximizer_at(std::size_t i, double s) const {
        const double c = weights_[i];
        return c > 0.0 ? signal_[i] + s / c : domain_.maximizer(s);
    }
    double excess_at(std::size_t i, double u, double s) const {
        const double c = weights_[i];
        if (!(c > 0.0)) return domain_.excess(u, s);
        const double d = (u - signal_[i]) - s / c;
        return product_above(0.5 * c * d, d);
    }
    double excess_error_at(std::size_t i, double u, double s) const {
        const double c = weights_[i];
        return 8.0 * unit_roundoff * (c > 0.0 ? std::abs(s) + c * std::abs(u - signal_[i]) : 0.0);
    }
    // The same without branches, where there is data everywhere.
    Tally tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                int n_threads) const override;
    double prox_at(std::size_t i, double v, double step) const {
        const double c = weights_[i];
        return c > 0.0 ? weighted_mean(v, signal_[i], finite_product(step, c)) : domain_.clip(v);
    }

    double derivative(std::size_t i, double u) const override {
        return weights_[i] * (u - signal_[i]);
    }
    // If one vertex has data, its component needs no domain.
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    double strong_convexity() const override { return least_weight_; }
    Interval domain() const override { return domain_; }

    double signal(std::size_t i) const { return signal_[i]; }
    double weight(std::size_t i) const { return weights_[i]; }

  private:
    Entries signal_, weights_;
    Interval domain_;
    double least_weight_;
};

}  // namespace graphtv

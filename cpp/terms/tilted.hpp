// A loss plus a linear and a quadratic function: G(u) + Σ_i b_i u_i + ρ_i/2 (u_i - a_i)², ρ_i ≥ 0.
//
// A part of a larger problem has this data term: b is the divergence of the flows across its
// border, and ρ makes it strongly convex where G is not (a proximal term around a). The domain is
// that of G, which must be bounded.
//
// With y = s - b, the maximiser of s u minus the term is that of G for ρ = 0. Otherwise it is the
// proximal map of G at a + y/ρ with the step 1/ρ. If w is the maximiser and g = y - ρ(w - a), the
// excess is that of G at g plus ρ/2 (u - w)².
#pragma once

#include <cmath>

#include "terms/entrywise.hpp"

namespace graphtv {

template <class Loss>
class TiltedTerm final : public EntrywiseTerm<TiltedTerm<Loss>, SmoothTerm> {
  public:
    TiltedTerm(const Loss& loss, std::span<const double> tilt, std::span<const double> rho,
               std::span<const double> anchor)
        : EntrywiseTerm<TiltedTerm<Loss>, SmoothTerm>(loss.shape()),
          loss_(&loss),
          tilt_(tilt),
          rho_(rho),
          anchor_(anchor) {
        double least = loss.shape().size() > 0 ? std::numeric_limits<double>::infinity() : 0.0;
        for (std::size_t i = 0; i < loss.shape().size(); ++i) least = std::min(least, rho_[i]);
        strong_convexity_ = loss.strong_convexity() + least;
    }

    double value_at(std::size_t i, double u) const {
        const double away = u - anchor_[i];
        return loss_->value_at(i, u) + tilt_[i] * u + 0.5 * rho_[i] * away * away;
    }
    double maximizer_at(std::size_t i, double s) const {
        const double y = s - tilt_[i];
        if (rho_[i] == 0.0) return loss_->maximizer_at(i, y);
        return loss_->prox_at(i, anchor_[i] + y / rho_[i], 1.0 / rho_[i]);
    }
    double conjugate_at(std::size_t i, double s) const {
        if (rho_[i] == 0.0) return loss_->conjugate_at(i, s - tilt_[i]);
        const double w = maximizer_at(i, s);
        return s * w - value_at(i, w);
    }
    double excess_at(std::size_t i, double u, double s) const {
        const double y = s - tilt_[i];
        if (rho_[i] == 0.0) return loss_->excess_at(i, u, y);
        const double w = maximizer_at(i, s), away = u - w;
        return loss_->excess_at(i, u, y - rho_[i] * (w - anchor_[i])) + 0.5 * rho_[i] * away * away;
    }
    double excess_error_at(std::size_t i, double u, double s) const {
        const double sizes = std::abs(s) + std::abs(tilt_[i]) + rho_[i] * std::abs(u - anchor_[i]);
        return loss_->excess_error_at(i, u, s - tilt_[i]) + 16.0 * unit_roundoff * sizes;
    }
    double rate_at(std::size_t i) const { return loss_->rate_at(i) + std::abs(tilt_[i]); }
    double extra_size_at(std::size_t i) const { return loss_->extra_size_at(i); }
    double prox_at(std::size_t i, double v, double step) const {
        const double stiffness = 1.0 + step * rho_[i];
        const double moved = v + step * (rho_[i] * anchor_[i] - tilt_[i]);
        return loss_->prox_at(i, moved / stiffness, step / stiffness);
    }

    double derivative(std::size_t i, double u) const override {
        return loss_->derivative(i, u) + tilt_[i] + rho_[i] * (u - anchor_[i]);
    }

    // Without ρ, this is the minimiser of G with another slope. Otherwise it is the root of the
    // derivative, which increases: secant steps (the Illinois variant of regula falsi), and
    // bisections where they do not apply.
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override {
        CompensatedSum tilt;
        double stiffness = 0.0;
        tilt.add(slope);
        for (const Vertex v : component) {
            const std::size_t i = this->shape_.entry(v, channel);
            tilt.add(tilt_[i]);
            stiffness += rho_[i];
        }
        if (stiffness == 0.0) return loss_->minimizer(component, channel, tilt.value());
        const auto derivative_at = [&](double m) {
            CompensatedSum sum;
            sum.add(slope);
            for (const Vertex v : component) sum.add(derivative(this->shape_.entry(v, channel), m));
            return sum.value();
        };
        double low = domain().lower, high = domain().upper;
        double fall = derivative_at(low), rise = derivative_at(high);
        if (fall >= 0.0) return low;
        if (rise <= 0.0) return high;
        int side = 0;
        for (int round = 0; round < 200; ++round) {
            double m = low - fall * ((high - low) / (rise - fall));
            if (round % 8 == 7 || !(m > low && m < high)) m = low + 0.5 * (high - low);
            if (m == low || m == high) break;  // adjacent floating-point numbers
            const double value = derivative_at(m);
            if (value == 0.0) return m;
            if (value < 0.0) {
                low = m;
                fall = value;
                if (side < 0) rise *= 0.5;
                side = -1;
            } else {
                high = m;
                rise = value;
                if (side > 0) fall *= 0.5;
                side = 1;
            }
        }
        return low + 0.5 * (high - low);
    }
    double strong_convexity() const override { return strong_convexity_; }
    Interval domain() const override { return loss_->domain(); }

  private:
    const Loss* loss_;
    Entries tilt_, rho_, anchor_;
    double strong_convexity_;
};

}  // namespace graphtv

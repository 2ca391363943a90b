// The primal point of a descent in single precision: a smoothed mean of its iterates.
//
// At low accuracy the dual point is much closer to the optimum than u = g - ∇ᵀx, which is rough
// where the solution is constant. A weighted mean of the iterates since the last restart is
// smoother, with the weight k³ for the k-th of them. Two steps of lagged diffusion (Vogel and Oman
// 1996) smooth it further: with conductances c = ω / √(‖∇u‖² + δ²) and vertex weights a,
//
//     u_i  ←  (a_i g_i + Σ_j c_ij u_j) / (a_i + Σ_j c_ij).
//
// They reduce the primal objective with ‖∇u‖ replaced by √(‖∇u‖² + δ²), which is larger by at most
// Σ ω δ. So δ is a part of the gap over Σ ω. The better of the mean and the smoothed mean is kept.
//
// In double precision this class does nothing. There, Newton's method gives better points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "solver/descent/stars.hpp"

namespace graphtv {

template <class Values>
class SmoothMean {
  public:
    using Real = typename Values::value_type;

    // Takes an iterate into the mean.
    void take(const Values& u) {
        is_current_ = false;
        if constexpr (sizeof(Real) > sizeof(float)) return;
        if (mean_.empty()) mean_.resize(u.size());
        const double k = ++n_, share = 4.0 * k / ((k + 1.0) * (k + 1.0));  // k³ / Σ k³
        blend(u.data(), mean_.data(), u.size(), static_cast<Real>(share));
    }

    // Called when the momentum restarts: earlier iterates are worse.
    void forget() {
        n_ = 0;
        is_current_ = false;
    }

    bool is_empty() const { return n_ == 0; }

    // Smooths the mean, and returns its objective. objective(u) computes it; diffuse(u, δ) does one
    // step of lagged diffusion.
    template <class Objective, class Diffuse>
    double value(double dual, double total_capacity, const Objective& objective,
                 const Diffuse& diffuse) {
        const double rough = objective(mean_);
        if (gap_ == 0.0) gap_ = rough - dual;
        const double width = std::max(width_of_gap * gap_ / total_capacity, least_width);
        smooth_ = mean_;
        for (int k = 0; k < n_steps; ++k) diffuse(smooth_, static_cast<Real>(width));
        double found = objective(smooth_);
        if (!(found <= rough)) {
            smooth_ = mean_;
            found = rough;
        }
        gap_ = std::max(found - dual, 0.0);
        is_current_ = true;
        return found;
    }

    // The point of the last value; empty if the descent has moved on.
    std::span<const Real> point() const {
        return std::span<const Real>(smooth_).first(is_current_ ? smooth_.size() : 0);
    }

  private:
    static constexpr int n_steps = 2;
    static constexpr double width_of_gap = 0.3;  // δ Σ ω over the gap
    static constexpr double least_width = 1e-7;  // δ in units of the range of the data

    Values mean_, smooth_;
    int n_ = 0;         // iterates in the mean
    double gap_ = 0.0;  // of the last value
    bool is_current_ = false;
};

}  // namespace graphtv

// Nesterov's momentum with restarts, and the restart criteria of the descents for the squared loss.
//
//     β = (t - 1) / t',   t' = (1 + √(1 + 4t²)) / 2
//
// The momentum restarts when it points uphill (O'Donoghue & Candès 2015) or when the dual objective
// decreases, that is, when the energy ½ Σ c_i (u_i - centre)² increases.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace graphtv {

class Momentum {
  public:
    // The energy is computed about the centre of f, which reduces cancellation.
    explicit Momentum(std::span<const double> signal)
        : centre_(std::accumulate(signal.begin(), signal.end(), 0.0) /
                  static_cast<double>(signal.size() + 1)) {}

    double beta() const { return beta_; }
    double centre() const { return centre_; }
    bool restarted() const { return restarted_; }

    // Called at the start of an iteration.
    void advance() {
        const double t = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t_ * t_));
        beta_ = (t_ - 1.0) / t;
        t_ = t;
    }

    // Called at its end. Returns whether to continue without momentum. `uphill` is ⟨y - q, q - q of
    // the last iteration⟩, and `slack` is a bound on the error of the energy.
    bool restarts(double uphill, double energy, double slack = 0.0) {
        constexpr double rounding = 1e-14;
        restarted_ = uphill > 0.0 || energy - slack > energy_ * (1.0 + rounding);
        if (restarted_) t_ = 1.0;
        energy_ = energy;
        return restarted_;
    }

    // Restarts from a new point of this energy.
    void start(double energy = std::numeric_limits<double>::infinity()) {
        t_ = 1.0;
        energy_ = energy;
    }

  private:
    double centre_;
    double t_ = 1.0, beta_ = 0.0;
    double energy_ = std::numeric_limits<double>::infinity();
    bool restarted_ = false;
};

// Σ_i c_i (f_i² - u_i²) / 2, the dual objective at u = f - C⁻¹Kᵀp. The product form avoids
// cancellation where u is close to f.
inline double squared_dual_value(std::span<const double> f, std::span<const double> u,
                                 std::span<const double> c) {
    double sum = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i)
        sum += 0.5 * (c.empty() ? 1.0 : c[i]) * (f[i] - u[i]) * (f[i] + u[i]);
    return sum;
}

}  // namespace graphtv

// The dual variable p of the saddle point problem, together with the metric T in which PDHG moves it
// (Möllenhoff et al., AISTATS 2018, eq. 3):
//
//     p̂ = argmin_p F*(p) - ⟨K ū, p⟩ + t/2 ‖p - p_k‖_T².
//
// A step starts from a blend of the last starting point, the last arrival and an anchor.
// Over-relaxed and anchored starting points may violate the constraints; p̂ never does. The
// accessors return p̂.
//
// The metric determines how p is stored: by edge, or forest by forest as q_l = K_lᵀp_l. Other
// classes see only Kᵀp̂. Arrays hold one channel after another.
#pragma once

#include <span>

#include "parallel/watch.hpp"

namespace graphtv {

// The next point of the iteration: point · (last starting point) + arrival · (its arrival) + anchor
// · (the anchor). The coefficients sum to one.
struct Blend {
    double point = 0.0, arrival = 1.0, anchor = 0.0;

    bool is_plain() const { return point == 0.0 && anchor == 0.0; }
    double operator()(double p, double a, double o) const {
        return point * p + arrival * a + anchor * o;
    }
};

// The points that blends need in addition to the arrival.
struct BlendMemory {
    bool point = false, anchor = false;
};

class DualVariable {
  public:
    struct Movement {
        bool completed;  // false if the watch ended the step; then part of p̂ is old until `settle`
        double squared;  // ‖p̂ - p_k‖_T²
    };

    virtual ~DualVariable() = default;

    virtual Movement step(std::span<const double> ubar, double t, const Blend& blend, int n_threads,
                          Watch& watch) = 0;

    // Makes Kᵀp̂ consistent after a step that was not completed.
    virtual void settle(int n_threads) = 0;

    // Allocates the anchor, if blends did not use one before.
    virtual void take_anchor() = 0;

    // Moves the anchor to p̂. Returns the squared length of this move in the metric T.
    virtual double anchor(int n_threads) = 0;

    // Kᵀp̂ by vertex.
    virtual std::span<const double> divergence() const = 0;

    // ‖p̂‖_T².
    virtual double squared_length(int n_threads) const = 0;

    // F*(p̂).
    virtual double conjugate(int n_threads) = 0;

    // p̂ by edge.
    virtual void get(std::span<double> p, int n_threads) = 0;

    // Starts from p by edge, where F* is finite. The anchor is set to p, too.
    virtual void set(std::span<const double> p, int n_threads) = 0;

    // An upper bound of ‖T^-½ K S^-½‖².
    virtual double squared_operator_norm() const = 0;

    // The diagonal of S, empty for the identity.
    virtual std::span<const double> primal_metric() const { return {}; }

    // The number of forest solves so far, counted per channel.
    virtual long long n_sweeps() const { return 0; }
};

}  // namespace graphtv

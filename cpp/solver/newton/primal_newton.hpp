// Newton's method for G(u) + F(Ku) with isotropic or coupled total variation, after Chan, Golub and
// Mulet, "A nonlinear primal-dual method for total variation-based image restoration" (1999).
//
// Norms are smoothed: N_g = √(‖x_g‖² + ε²) with x = Ku, or max(‖x_g‖, δ) for Huber's function. The
// matrix comes from the linearisation of N_g p_g = x_g, and not of p_g = x_g / N_g:
//
//     C + KᵀBK,   B_g = (I - ½ (p_g x̂_gᵀ + x̂_g p_gᵀ)) / N_g,   x̂ = x / N,
//
// It is positive definite for every feasible p and nearly constant close to the solution. Here p comes
// from a descent, so a step improves u alone.
#pragma once

#include <span>

#include "solver/newton/group_system.hpp"

namespace graphtv {

class PrimalNewton {
  public:
    // Everything is borrowed.
    PrimalNewton(const EdgeList& graph, std::span<const double> weights, const GroupNorms& penalty)
        : graph_(graph), weights_(weights), penalty_(penalty), system_(graph, weights, penalty) {}

    // The step d from u: H d = -(G'(u) + Kᵀx̂). `slope` is G'(u) and `curvature` is G''(u), by entry.
    // Returns the number of iterations of conjugate gradients. Under `Watched`.
    int step(std::span<const double> u, std::span<const double> p, std::span<const double> slope,
             std::span<const double> curvature, double smoothing, double accuracy, int most,
             std::span<double> d);

  private:
    EdgeList graph_;
    std::span<const double> weights_;
    const GroupNorms& penalty_;
    GroupSystem system_;
    std::vector<double> rhs_;
};

}  // namespace graphtv

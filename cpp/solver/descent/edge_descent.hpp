// Accelerated coordinate descent over single edges for the squared loss. This is block descent (see
// block_descent.hpp) with one forest per edge, so no decomposition is needed.
//
// In terms of flows x = ωp and u = f - C⁻¹ ∇ᵀx, the dual objective as a function of one edge (i, j)
// is a parabola with its maximum at u_i = u_j: x moves by (u_i - u_j) / (1/c_i + 1/c_j), clipped to
// ±ω. One iteration updates the edges in a fixed order, starting from an extrapolated flow y. The
// momentum restarts when it points uphill or the dual objective decreases. If the weights are small
// or the pieces of the optimum are small, a few iterations come as close as with any forest. If
// information has to travel far, they do not, and the caller continues with forests.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/momentum.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class EdgeDescent {
  public:
    // All arguments are borrowed. Vertex weights c are positive, or empty for ones.
    EdgeDescent(const EdgeList& graph, std::span<const double> weights,
                std::span<const double> signal, std::span<const double> vertex_weights);

    // Starts from a dual point, |p| ≤ 1. The default start is p = 0.
    void start_from(std::span<const double> p);

    // One iteration. Returns false if the watch expired; the point is then feasible, and u is
    // recomputed on demand.
    bool step(Watch& watch);

    // u = f - C⁻¹Kᵀp, to rounding.
    std::span<const double> u() {
        settle();
        return u_;
    }

    // Σ_i c_i (f_i² - u_i²) / 2, the dual objective.
    double dual_value() { return squared_dual_value(f_, u(), c_); }

    // p by edge, |p| ≤ 1.
    void dual(std::span<double> p, int n_threads = 1) const;
    void rounded_dual(std::span<Rounded> p, int n_threads = 1) const;

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    template <bool has_vertex_weights>
    bool sweep(Watch& watch, double& uphill);
    void recompute();
    template <class Put>
    void for_each_dual(int n_threads, const Put& put) const;
    void settle() {
        if (is_torn_) recompute();
    }

    EdgeList graph_;
    std::span<const double> weights_, f_, c_;
    std::vector<double> inverse_;  // 1/c, or empty
    std::vector<double> x_, y_;    // the flow and its extrapolation, by edge
    std::vector<double> u_, r_;    // f - C⁻¹ ∇ᵀx and f - C⁻¹ ∇ᵀy
    Momentum momentum_;
    bool is_torn_ = false;  // the watch ended a step: u and r are inconsistent with x
};

}  // namespace graphtv

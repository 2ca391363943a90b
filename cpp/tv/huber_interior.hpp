// Huber total variation on a tree by an interior-point method, to about nine digits.
//
// The dual is a box-constrained quadratic program, min ½‖f - C⁻¹Kᵀp‖²_C + δ/2 ‖p‖² over |p| ≤ 1. Mehrotra's
// predictor-corrector needs some twenty steps whatever the size, each two solves with
// C + Kᵀ diag(1/E) K on the tree. It finds which edges are linear where Newton's method, which moves the
// border between the zones by an edge or two a step, would need thousands.
#pragma once

#include <span>

#include "graph/scratch.hpp"
#include "tv/huber_problem.hpp"

namespace graphtv {

class HuberInterior {
  public:
    void reserve(std::size_t largest_tree);
    std::size_t n_bytes() const;

    // Writes an approximate minimiser of the centred problem to u, and to `zone` what the edges seem to
    // be at the true one: 0 for quadratic, ±1 for linear with that slope. `pivot` is scratch.
    void solve(const HuberProblem& problem, std::span<double> u, std::span<signed char> zone,
               std::span<double> pivot);

  private:
    // By edge: distance of p to its bounds 1 and -1, their multipliers, and a step in all of them.
    struct Barrier {
        double above, below, z_above, z_below;
        double dp, dz_above, dz_below;

        double p() const { return 0.5 * (below - above); }
    };

    struct Target {
        double mu;
        bool corrected;  // for the second-order term of the step found before
    };

    void find_step(const HuberProblem& problem, std::span<const double> u, Target target,
                   std::span<double> pivot);
    double longest_step(std::size_t n_edges) const;

    Scratch<Barrier> edges_;
    Scratch<double> du_, rhs_, softness_;
};

}  // namespace graphtv

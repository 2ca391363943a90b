// Huber total variation on a tree by an interior-point method, to about nine digits.
//
// The dual is a box-constrained quadratic program, min ½‖f - C⁻¹Kᵀp‖²_C + δ/2 ‖p‖² over |p| ≤ 1.
// Mehrotra's predictor-corrector method needs about twenty steps for any size. Each step takes two
// solves with C + Kᵀ diag(1/E) K on the tree. The method finds the linear edges in cases where
// Newton's method would need thousands of steps, because each of these moves the border between the
// zones by only an edge or two.
#pragma once

#include <span>

#include "graph/scratch.hpp"
#include "tv/huber_problem.hpp"

namespace graphtv {

class HuberInterior {
  public:
    void reserve(std::size_t largest_tree);
    std::size_t n_bytes() const;

    // Writes an approximate minimiser of the centred problem to u, and the predicted zone of each
    // edge to `zone`: 0 for quadratic, ±1 for linear with that slope. `pivot` is scratch memory.
    void solve(const HuberProblem& problem, std::span<double> u, std::span<signed char> zone,
               std::span<double> pivot);

  private:
    // By edge: the distances of p to its bounds 1 and -1, their multipliers, and a step of all
    // four.
    struct Barrier {
        double above, below, z_above, z_below;
        double dp, dz_above, dz_below;

        double p() const { return 0.5 * (below - above); }
    };

    struct Target {
        double mu;
        bool corrected;  // with the second-order term of the predictor step
    };

    void find_step(const HuberProblem& problem, std::span<const double> u, Target target,
                   std::span<double> pivot);
    double longest_step(std::size_t n_edges) const;

    Scratch<Barrier> edges_;
    Scratch<double> du_, rhs_, softness_;
};

}  // namespace graphtv

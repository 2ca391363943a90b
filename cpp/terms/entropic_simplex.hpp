// Segmentation into C classes (the paper's Section 5): every vertex has a point of the unit simplex,
//
//     G(u) = Σ_i ⟨ρ_i, u_i⟩ + ε Σ_c u_ic log u_ic + δ{u_i ∈ Δ_C},
//     G*(s) = Σ_i ε log Σ_c exp((s_ic - ρ_ic)/ε).
//
// The paper computes the proximal map through Moreau's identity by Newton's method on G*, in C
// unknowns per vertex. Here all unknowns but one are eliminated and Newton's method converges from
// every start, or all unknowns are found together from a good guess; see terms/simplex_prox.hpp.
#pragma once

#include "terms/data_term.hpp"

namespace graphtv {

class Entries;
class SimplexGroup;

class EntropicSimplexTerm final : public DataTerm {
  public:
    EntropicSimplexTerm(TermShape shape, std::span<const double> cost, double epsilon);

    // Infinite unless u ≥ 0 and every vertex has |Σ_c u_c - 1| ≤ sum_tolerance.
    double value(std::span<const double> u, int n_threads) const override;
    double conjugate(std::span<const double> s, int n_threads) const override;
    Tally tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                int n_threads) const override;
    void prox(std::span<const double> v, std::span<const double> steps, std::span<double> out,
              int n_threads) const override;

    void prox_near(std::span<const double> guess, std::span<const double> v,
                   std::span<const double> steps, std::span<double> out,
                   int n_threads) const override;

    // The second derivative ε/u is at least ε on the simplex. (The paper has 1/ε.)
    double strong_convexity() const override { return epsilon_; }
    Interval domain() const override { return {0.0, 1.0}; }

    static constexpr double sum_tolerance = 1e-12;

  private:
    double finite(double tau) const;
    double scale(double tau) const;
    void solve_vertex(std::size_t i, std::span<const double> v, double tau, std::span<double> d,
                      std::span<double> u) const;
    bool solve_group(std::size_t i, std::span<const double> guess, std::span<const double> v,
                     const Entries& steps, SimplexGroup& group) const;

    std::span<const double> cost_;
    double epsilon_;
    double longest_step_;
};

}  // namespace graphtv

// The primal-dual hybrid gradient method for max_p min_u G(u) - F*(p) + ⟨Ku, p⟩, as in Möllenhoff et
// al. (AISTATS 2018), eq. (2)-(3):
//
//     û = argmin_u G(u) + ⟨p, Ku⟩ + s/2 ‖u - u_k‖_S²
//     p̂ = argmin_p F*(p) - ⟨K(û + θ(û - u_k)), p⟩ + t/2 ‖p - p_k‖_T²,    θ = 1,
//
// The iteration converges for st ≥ N, where N bounds ‖T^-½ K S^-½‖². By default s = weight·√N and t
// = √N/weight.
//
// The schemes differ in how the next point (u, p) follows from (û, p̂):
// - fixed: (û, p̂), with constant steps. The proximal gradient method (eq. 4) is the case s = 1, t
//   = N for G = ½‖u - f‖², in which û + (û - u) = f - Kᵀp.
// - accelerated: Algorithm 2 of Chambolle and Pock (JMIV 2011) for γ-strongly convex G (in the norm
//   of S): θ = 1/√(1 + 2γ/s), s ← s/θ, t ← θt. The paper uses it with γ = 0.25.
// - balanced: over-relaxed, (u, p) ← (u, p) + ρ((û, p̂) - (u, p)), with constant steps. The weight
//   is adjusted from time to time such that the two halves of a step have equal length, s‖û - u‖² =
//   t‖p̂ - p‖². These changes become geometrically rarer. For strongly convex G; the constant of
//   strong convexity is not needed.
// - restarted: anchored and reflected, (u, p) ← k/(k+1) (2(û, p̂) - (u, p)) + 1/(k+1) (u⁰, p⁰). It
//   restarts from (û, p̂) when the fixed-point residual has decreased enough (Lu and Yang,
//   "Restarted Halpern PDHG for linear programming", 2024). The weight is balanced at restarts
//   (PDLP). For G without strong convexity.
// - automatic: balanced while the fixed-point residual falls steadily, otherwise restarted, from the
//   start. If condition numbers are large, over-relaxation alone makes little progress.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "solver/pdhg/dual_variable.hpp"
#include "solver/pdhg/reconditioning.hpp"
#include "terms/data_term.hpp"
#include "terms/penalty.hpp"

namespace graphtv {

struct PdhgOptions {
    enum class Scheme { fixed, accelerated, balanced, restarted, automatic };
    Scheme scheme = Scheme::balanced;
    double primal_step = 0.0;    // s; 0: from the weight
    double dual_step = 0.0;      // t; 0: N/s
    double primal_weight = 0.0;  // √(s/t) at the start; 0: chosen from the data
    double unit_weight = 1.0;    // what a weight of 1 is in the units of the data
    double gamma = 0.0;          // for Algorithm 2, in the Euclidean norm
    bool reconditions = false;   // rebuild the forests from time to time (reconditioning.hpp)
    int n_threads = 1;

    BlendMemory memory() const {
        return {scheme != Scheme::fixed && scheme != Scheme::accelerated,
                scheme == Scheme::restarted};
    }
};

class Pdhg {
  public:
    struct Step {
        double primal_step, dual_step;  // s and t
        bool restarted;                 // or reconditioned
        bool completed;
    };
    struct Objectives {
        double primal, dual;
    };

    // Everything is borrowed except the dual variable, which must provide the memory for these
    // options.
    Pdhg(const EdgeList& graph, std::span<const double> weights, const DataTerm& data,
         const Penalty& penalty, std::unique_ptr<DualVariable> dual, const PdhgOptions& options);

    // Starts from (u, p), p by edge. By default u minimises G and p = 0.
    void start(std::span<const double> u, std::span<const double> p);

    // One iteration. If the watch ends it, û and p̂ are feasible, and the remaining state is
    // recomputed on demand. Allocates no memory unless it rebuilds forests or changes its scheme.
    Step step(Watch& watch);

    // Both objectives at (û, p̂).
    Objectives evaluate();

    std::span<const double> u() const { return arrival_; }
    void dual(std::span<double> p) { dual_->get(p, options_.n_threads); }

    double squared_operator_norm() const { return dual_->squared_operator_norm(); }
    long long n_sweeps() const { return earlier_sweeps_ + dual_->n_sweeps(); }

  private:
    using Scheme = PdhgOptions::Scheme;
    struct Distances {
        double squared_primal = 0.0, squared_dual = 0.0;  // in the norms of S and T
    };
    Step advance(Watch& watch);
    void settle();
    void move_primal();
    double extrapolate(double theta);
    double squared_residual(const Distances& moved);
    bool has_fallen(double squared_residual);
    template <class Entry>
    double squared_norm(const Entry& entry) const;
    Distances begin_epoch();
    void minimise_data_term();
    bool is_steady(const Distances& moved);
    void begin_restarts();
    void balance_by_epoch();
    void balance(const Distances& moved, double share, double largest_change);
    void take_weight(double weight);
    double first_weight() const;
    double natural_weight() const;
    double length_of_range() const;
    Distances rounding() const;
    bool recondition(const Watch& watch);

    EdgeList graph_;
    std::span<const double> weights_;
    const DataTerm& data_;
    const Penalty& penalty_;
    std::unique_ptr<DualVariable> dual_;
    PdhgOptions options_;
    Scheme scheme_;  // the scheme in use

    double s_, t_, norm_, weight_, gamma_;  // norm_ is √(st)
    double natural_;                        // the weight that fits the range of u and ω
    long long iteration_ = 0, next_balance_, next_check_, next_recondition_;
    long long earlier_sweeps_ = 0;
    std::optional<Reconditioning> reconditioning_;
    // By vertex: the starting point of the step (u and Kᵀp), its arrival (û), the anchor, and ū.
    std::vector<double> point_, point_divergence_, arrival_, anchor_, anchor_divergence_, ubar_;
    std::vector<double> steps_;  // 1/s, or 1/(s S_i)
    std::vector<double> metric_;
    Blend blend_;
    long long epoch_length_ = 0;
    double first_residual_ = 0.0, last_residual_ = 0.0;  // squared, as the next
    double checked_residual_ = std::numeric_limits<double>::infinity();
    bool begins_anew_ = false;  // the next step is the first one with restarts
    bool is_torn_ = false;      // the watch ended a step
    bool is_warm_ = false;      // the starting point was given
};

}  // namespace graphtv

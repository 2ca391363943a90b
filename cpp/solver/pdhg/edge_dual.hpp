// The dual variable by edge, with a diagonal metric T.
//
// none:      T = I, S = I; ‖K‖² by power iteration, never above the bound
//            max_e Σ ω² at the two ends of e (Anderson and Morley, 1985);
// diagonal:  T_e = 2 ω_e^α, S_i = Σ_{e∋i} ω_e^(2-α) (Pock and Chambolle, ICCV 2011), for which
//            ‖T^-½ K S^-½‖ ≤ 1.
//
// In both cases a step is the proximal map of F* at p + T⁻¹Kū/t with the steps 1/(t T_e). If a
// group of the penalty holds several edges, they share the largest of their T_e.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "solver/pdhg/dual_variable.hpp"
#include "terms/penalty.hpp"

namespace graphtv {

class EdgeDual : public DualVariable {
  public:
    // The graph, its weights and the penalty are borrowed.
    static EdgeDual unscaled(const EdgeList& graph, std::span<const double> weights,
                             const Penalty& penalty, std::size_t n_channels, BlendMemory memory);
    static EdgeDual diagonal(const EdgeList& graph, std::span<const double> weights,
                             const Penalty& penalty, std::size_t n_channels, BlendMemory memory,
                             double alpha);

    Movement step(std::span<const double> ubar, double t, const Blend& blend, int n_threads,
                  Watch& watch) override;
    void settle(int n_threads) override { gather(n_threads); }
    void take_anchor() override { anchor_.resize(p_.size()); }
    double anchor(int n_threads) override;
    std::span<const double> divergence() const override { return divergence_; }
    double squared_length(int n_threads) const override;
    double conjugate(int n_threads) override;
    void get(std::span<double> p, int n_threads) override;
    void set(std::span<const double> p, int n_threads) override;
    double squared_operator_norm() const override { return squared_operator_norm_; }
    std::span<const double> primal_metric() const override { return primal_metric_; }

  private:
    EdgeDual(const EdgeList& graph, std::span<const double> weights, const Penalty& penalty,
             std::size_t n_channels, BlendMemory memory);
    double inverse_metric(std::size_t e) const {
        return inverse_metric_.empty() ? 1.0 : inverse_metric_[e];
    }
    template <bool is_scaled>
    double move(std::span<const double> ubar, double t, const Blend& blend, int n_threads,
                bool scatters);
    double move_groups(std::span<const double> ubar, double t, const Blend& blend, int n_threads);
    void share_metric(std::span<const std::int32_t> groups);
    void gather(int n_threads);
    double power_iteration() const;

    EdgeList graph_;
    std::span<const double> weights_;
    const Penalty* penalty_;
    std::optional<EdgePenalty> by_edge_;
    std::size_t n_channels_;
    std::vector<double> inverse_metric_;  // 1/T_e; empty for the identity
    std::vector<double> primal_metric_;   // a vertex without edges has 1
    double squared_operator_norm_ = 1.0;
    // The edges at each vertex: e where it is the tail, -1 - e where it is the head. Sums run over
    // vertices, so that the order of summation does not depend on the number of threads.
    std::vector<std::int64_t> offsets_;
    std::vector<EdgeIndex> incident_;
    std::vector<double> p_, point_, anchor_;  // p̂; where it came from; empty if not needed
    std::vector<double> divergence_;
    std::vector<double> target_, steps_;  // of the proximal map, unless the penalty is edgewise
};

}  // namespace graphtv

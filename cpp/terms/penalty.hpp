// A penalty F of the weighted differences x = Ku: the interface of the solvers.
//
// x and p have m edges and C channels. Arrays hold one channel after another: entry c·m + e is edge
// e, channel c. F is convex, F(0) = 0, and F does not increase when an entry of x moves towards 0.
// The domains of the data terms depend on the last property (data_term.hpp).
//
// F is a sum over groups of entries, F(x) = Σ_g F_g(x_g). A group may hold one entry, the channels of an
// edge, several edges, or several edges with all their channels. F* is finite on a product of one convex
// set per group, such as the balls ‖p_g‖ ≤ 1.
//
// Every function is a pass over all entries, so a virtual call costs nothing. Inner loops that need
// the formula of a single entry request it once through `by_edge`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graph/types.hpp"
#include "terms/tally.hpp"
#include "tv/edge_penalty.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class Penalty {
  public:
    Penalty() = default;
    virtual ~Penalty() = default;
    Penalty(const Penalty&) = delete;
    Penalty& operator=(const Penalty&) = delete;

    // F(Ku), by compensated summation.
    virtual double value(const EdgeList& graph, std::span<const double> weights,
                         std::span<const double> u, int n_threads) const = 0;

    // F*(p), by compensated summation; also infinite if some p is NaN. p may be rounded.
    virtual double conjugate(std::span<const double> p, int n_threads) const = 0;
    virtual double conjugate(std::span<const Rounded> p, int n_threads) const;

    // Both sums, and the sum of F_g(x_g) + F_g*(p_g) - ⟨x_g, p_g⟩, for a certificate. `value` and
    // `conjugate` return the same bits. If a penalty does not know the excess of a group, the
    // excess is computed from the total sums.
    virtual Tally tally(const EdgeList& graph, std::span<const double> weights,
                        std::span<const double> u, std::span<const double> p, int n_threads) const;
    virtual Tally tally(const EdgeList& graph, std::span<const double> weights,
                        std::span<const double> u, std::span<const Rounded> p, int n_threads) const;

    // The nearest p for which F* is finite.
    virtual void project(std::span<double> p, int n_threads) const = 0;

    // out = argmin_p F*(p) + Σ_e ‖p_e - v_e‖² / (2 steps_e). There is one step for all edges, or
    // one per edge, which the edges of a group share. F*(out) is finite. `out` may be `v`.
    virtual void prox_conjugate(std::span<const double> v, std::span<const double> steps,
                                std::span<double> out, int n_threads) const = 0;

    // A feasible p in a quarter of the memory. The result is feasible too: unless a penalty knows
    // better, every entry is rounded towards 0.
    virtual void round(std::span<const double> p, std::span<Rounded> out, int n_threads) const;

    // The number of the group of each edge; empty if no group has two edges.
    virtual std::span<const std::int32_t> edge_groups() const { return {}; }

    // h, if F(x) is the sum of h over all entries. Forests, descent and flows need it.
    virtual std::optional<EdgePenalty> by_edge() const { return std::nullopt; }
};

// Total variation and its Huber relaxation: F(x) = Σ h(x_ec), a sum over single entries.
class EdgewisePenalty final : public Penalty {
  public:
    explicit EdgewisePenalty(EdgePenalty h = {}) : h_(h) {}

    double value(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                 int n_threads) const override;
    double conjugate(std::span<const double> p, int n_threads) const override;
    double conjugate(std::span<const Rounded> p, int n_threads) const override;
    Tally tally(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                std::span<const double> p, int n_threads) const override;
    Tally tally(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                std::span<const Rounded> p, int n_threads) const override;
    void project(std::span<double> p, int n_threads) const override;
    void prox_conjugate(std::span<const double> v, std::span<const double> steps,
                        std::span<double> out, int n_threads) const override;
    void round(std::span<const double> p, std::span<Rounded> out, int n_threads) const override;
    std::optional<EdgePenalty> by_edge() const override { return h_; }

  private:
    EdgePenalty h_;
};

}  // namespace graphtv

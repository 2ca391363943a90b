// The dual variable forest by forest, in the metric T_l = K_lK_lᵀ of Möllenhoff et al. (AISTATS 2018,
// Section 3.3), for S = I; ‖T^-½ K‖² ≤ L, the number of forests.
//
// Departure: with q_l = K_lᵀp_l the metric is the Euclidean one of vertex vectors, and the step
// (Algorithm 2 of the paper with f_l = -z) becomes
//
//     z = q_l + ū/t,    q̂_l = z - prox_{TV_l}(z),
//
// where the Huber parameter of the proximal step is δ/t. No edge vector and no linear system are
// needed. p is recovered on demand, from leaves to root.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solver/forests.hpp"
#include "solver/pdhg/dual_variable.hpp"

namespace graphtv {

class ForestDual : public DualVariable {
  public:
    // Forests passed by reference are borrowed. They must have been built with this penalty and
    // without vertex weights.
    ForestDual(Forests& forests, EdgePenalty penalty, std::size_t n_channels, BlendMemory memory);
    ForestDual(std::unique_ptr<Forests> forests, EdgePenalty penalty, std::size_t n_channels,
               BlendMemory memory);
    ~ForestDual() override {
        if (penalty_.is_huber()) forests_.set_penalty(penalty_);
    }

    Movement step(std::span<const double> ubar, double t, const Blend& blend, int n_threads,
                  Watch& watch) override;
    void settle(int n_threads) override { collect(n_threads); }
    void take_anchor() override {
        for (Part& part : parts_) part.anchor.resize(part.q.size());
    }
    double anchor(int n_threads) override;
    std::span<const double> divergence() const override { return divergence_; }
    double squared_length(int n_threads) const override;
    double conjugate(int n_threads) override;
    void get(std::span<double> p, int n_threads) override;
    void set(std::span<const double> p, int n_threads) override;
    double squared_operator_norm() const override {
        return static_cast<double>(std::max<std::size_t>(forests_.size(), 1));
    }
    long long n_sweeps() const override { return n_sweeps_; }

  private:
    // One forest, one channel: q̂, where its step started, and the anchor, by slot.
    struct Part {
        ForestMemory warm;
        std::vector<double> q, point, anchor;
    };
    bool sweep(std::size_t forest, std::size_t channel, std::span<const double> ubar, double t,
               const Blend& blend, int n_threads, Watch& watch);
    Part& part(std::size_t forest, std::size_t channel) {
        return parts_[forest * n_channels_ + channel];
    }
    void collect(int n_threads);

    std::unique_ptr<Forests> owned_;
    Forests& forests_;
    EdgePenalty penalty_;
    std::size_t n_channels_;
    std::vector<Part> parts_;         // channels of a forest side by side
    std::vector<PackSum> movements_;  // by shard
    std::vector<double> divergence_;
    std::vector<double> p_;  // by edge, for F* where it is not 0
    long long n_sweeps_ = 0;
};

}  // namespace graphtv

// Forests that fit the active set, in the spirit of Ye, Möllenhoff, Wu and Cremers, "Optimization of
// graph total variation via active-set-based combinatorial reconditioning" (AISTATS 2020).
//
// Near the optimum the active edges, those with |p| = 1, no longer move: what governs the
// convergence is the condition number of the preconditioner restricted to the inactive ones, and
// that is best if they form nested forests among themselves.
//
// The departure: the sequel gives the active edges forests of their own. Here they fill the gaps of
// the forests of the inactive ones, which leaves T restricted to the inactive edges as it is, and
// the number of forests, to which step sizes are inversely proportional, nearly as small as it was.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "solver/pdhg/dual_variable.hpp"
#include "tv/edge_penalty.hpp"

namespace graphtv {

class Reconditioning {
  public:
    // The graph and its weights are borrowed.
    Reconditioning(const EdgeList& graph, std::span<const double> weights, EdgePenalty penalty,
                   std::size_t n_channels);

    // The same p̂ on other forests. Null if hardly any edge has become active or inactive since the
    // last call.
    std::unique_ptr<DualVariable> operator()(DualVariable& dual, BlendMemory memory, int n_threads);

  private:
    EdgeList graph_;
    std::span<const double> weights_;
    EdgePenalty penalty_;
    std::size_t n_channels_;
    std::vector<EdgeIndex> heaviest_first_;
    std::vector<bool> active_;  // in every channel; empty before the first call
};

}  // namespace graphtv

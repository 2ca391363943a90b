// Forests that fit the active set, in the spirit of Ye, Möllenhoff, Wu and Cremers, "Optimization of
// graph total variation via active-set-based combinatorial reconditioning" (AISTATS 2020).
//
// Near the optimum the active edges, those with |p| = 1, no longer move. The convergence then
// depends on the condition number of the preconditioner restricted to the inactive edges. It is
// smallest if the inactive edges form nested forests among themselves.
//
// Departure: the sequel puts the active edges into separate forests. Here they fill the gaps of the
// forests of the inactive edges. This does not change T restricted to the inactive edges, and the
// number of forests, to which step sizes are inversely proportional, hardly grows.
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

    // The same p̂ on new forests. Null if too few edges have become active or inactive since the
    // last call.
    std::unique_ptr<DualVariable> operator()(DualVariable& dual, BlendMemory memory, int n_threads);

  private:
    EdgeList graph_;
    std::span<const double> weights_;
    EdgePenalty penalty_;
    std::size_t n_channels_;
    std::vector<EdgeIndex> heaviest_first_;
    std::vector<bool> active_;  // whether active in every channel; empty before the first call
};

}  // namespace graphtv

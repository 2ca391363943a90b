// The exact solution of one forest for a sequence of signals: a ForestBlock with its memory.
#pragma once

#include <span>

#include "tv/forest_block.hpp"

namespace graphtv {

class ForestTV {
  public:
    // Vertex weights c are empty for ones, or nonnegative; c = 0 only for total variation. Throws
    // std::invalid_argument on a cycle.
    ForestTV(const EdgeList& forest, std::span<const double> edge_weights, EdgePenalty penalty = {},
             std::span<const double> vertex_weights = {});

    ForestTV(const ForestTV&) = delete;
    ForestTV& operator=(const ForestTV&) = delete;

    // f and u are indexed by vertex; u_i = f_i at vertices without an edge. `warm` starts the
    // chains from the pieces of the last warm call; trees always start cold. Allocates no memory
    // after the first call.
    void solve(std::span<const double> f, std::span<double> u, bool warm, int n_threads);

    // Recomputes the value of every piece of u from f, without the rounding errors of long message
    // chains.
    void refine(std::span<const double> f, std::span<double> u);

    // p by edge of the forest, |p| ≤ 1 and Kᵀp = f - u to rounding.
    void dual(std::span<const double> f, std::span<const double> u, std::span<double> p);

    bool is_linear() const { return block_.is_linear(); }
    std::size_t n_bytes() const;

  private:
    struct Nothing {};
    ForestBlock block_;
    ForestMemory memory_;
    ForestWorkspace workspace_;
    std::vector<Nothing> partials_;
};

}  // namespace graphtv

// The forests ℰ = ℰ_1 ∪ … ∪ ℰ_L of a partition, prepared for proximal steps, with their shared
// scratch memory. Built once per graph. Solvers for any number of signals may use it, one at a
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "tv/forest_block.hpp"

namespace graphtv {

class Forests {
  public:
    // labels: the forest of each edge, 0 … n_forests - 1. penalty, vertex_weights: as for
    // ForestBlock. The weights must outlive the object. Checks the watch of the calling thread.
    Forests(const EdgeList& graph, std::span<const double> weights,
            std::span<const std::int32_t> labels, std::int32_t n_forests, EdgePenalty penalty = {},
            std::span<const double> vertex_weights = {});

    std::size_t size() const { return blocks_.size(); }
    const ForestBlock& operator[](std::size_t l) const { return blocks_[l]; }
    std::size_t n_vertices() const { return n_vertices_; }
    std::size_t n_edges() const { return n_edges_; }
    bool is_linear() const;
    bool is_huber() const { return is_huber_; }
    double largest_weight() const { return largest_weight_; }
    void set_penalty(EdgePenalty penalty);

    ForestWorkspace& workspace() { return workspace_; }
    std::size_t n_bytes() const;

  private:
    std::size_t n_vertices_, n_edges_;
    bool is_huber_;
    double largest_weight_ = 0.0;
    std::vector<ForestBlock> blocks_;
    ForestWorkspace workspace_;
};

}  // namespace graphtv

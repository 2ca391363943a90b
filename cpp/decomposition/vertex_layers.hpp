// Array positions for values that are stored per vertex and forest.
//
// In a nested partition the forests that have an edge at v are the first ones, at most degree(v) of
// them. Positions for the pairs (v, l) with l < degree(v) therefore suffice: Σ degree(v) = 2m in
// all, for any number of forests. 2m < 2³², so a position fits into 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

// The number of a forest in a partition.
using Forest = std::int32_t;

class VertexLayers {
  public:
    explicit VertexLayers(const EdgeList& graph)
        : offsets_(static_cast<std::size_t>(graph.n_vertices) + 1) {
        for_watched(graph.edges.size(), [&](std::size_t e) {
            ++offsets_[static_cast<std::size_t>(graph.edges[e].tail) + 1];
            ++offsets_[static_cast<std::size_t>(graph.edges[e].head) + 1];
        });
        for (std::size_t v = 1; v < offsets_.size(); ++v) offsets_[v] += offsets_[v - 1];
    }

    // The position of (v, l), valid for l < degree(v).
    std::uint32_t operator()(Vertex v, Forest l) const {
        return offsets_[static_cast<std::size_t>(v)] + static_cast<std::uint32_t>(l);
    }
    std::size_t size() const { return offsets_.back(); }

  private:
    std::vector<std::uint32_t> offsets_;
};

}  // namespace graphtv

// Compressed sparse rows of a graph: the half-edges at each vertex, in the order of the edge list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct HalfEdge {
    Vertex to;
    EdgeIndex edge;
};

class Adjacency {
  public:
    explicit Adjacency(const EdgeList& graph);

    std::span<const HalfEdge> operator[](Vertex v) const {
        const auto i = static_cast<std::size_t>(v);
        return {half_edges_.data() + offsets_[i], half_edges_.data() + offsets_[i + 1]};
    }
    EdgeIndex degree(Vertex v) const { return static_cast<EdgeIndex>((*this)[v].size()); }
    Vertex n_vertices() const { return static_cast<Vertex>(offsets_.size() - 1); }
    // The half-edges of v occupy the positions offsets()[v] … offsets()[v + 1] - 1. Callers use
    // these positions to index their own arrays.
    std::span<const std::int64_t> offsets() const { return offsets_; }

  private:
    std::vector<std::int64_t> offsets_;
    std::vector<HalfEdge> half_edges_;
};

}  // namespace graphtv

// A linear forest whose edges all join vertices of the same distance in numbering, as those along
// one axis of a grid in row-major order do. It needs no index of its vertices: a chain is a start
// and a length.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct LatticeForest {
    static constexpr EdgeIndex no_edge = -1;

    // Nothing if the edges are no lattice, or reach less than half of the vertices.
    static std::optional<LatticeForest> recognize(const EdgeList& forest,
                                                  std::span<const double> edge_weights);

    Vertex stride;                    // between neighbours
    std::vector<Vertex> chain_start;  // the first vertex of each chain, ascending
    std::vector<Vertex> chain_begin;  // positions [chain_begin[c], chain_begin[c + 1]) are chain c
    std::vector<double> weight;       // by position, of the edge to the next; one if all are equal
    std::vector<EdgeIndex> edge;      // by vertex, to the vertex one stride on, or no_edge
    std::vector<bool> is_tail;        // by vertex: whether it is that edge's tail

    Vertex n_chains() const { return static_cast<Vertex>(chain_start.size()); }
};

}  // namespace graphtv

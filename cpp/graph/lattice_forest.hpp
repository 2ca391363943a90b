// A linear forest in which the numbers of the two ends differ by the same stride for every edge, as
// for the edges along one axis of a grid in row-major order. It needs no index of its vertices: a
// start and a length describe each chain.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct LatticeForest {
    static constexpr EdgeIndex no_edge = -1;

    // Returns nothing if the edges have no common stride, or if they cover less than half of the
    // vertices.
    static std::optional<LatticeForest> recognize(const EdgeList& forest,
                                                  std::span<const double> edge_weights);

    Vertex stride;                    // difference of neighbouring vertex numbers
    std::vector<Vertex> chain_start;  // the first vertex of each chain, ascending
    std::vector<Vertex> chain_begin;  // positions [chain_begin[c], chain_begin[c + 1]) are chain c
    std::vector<double> weight;   // of the edge to the next position; one value if all are equal
    std::vector<EdgeIndex> edge;  // by vertex: to the vertex one stride further, or no_edge
    std::vector<bool> is_tail;    // by vertex: whether it is the tail of that edge

    Vertex n_chains() const { return static_cast<Vertex>(chain_start.size()); }

    // Fills everything but the weights for edges in any order. Returns false if they cover less
    // than half of the vertices.
    bool find_chains(const EdgeList& forest);
};

}  // namespace graphtv

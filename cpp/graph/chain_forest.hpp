// A linear forest (every tree a path) as contiguous chains.
#pragma once

#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct ChainForest {
    static constexpr EdgeIndex no_edge = -1;

    // Builds the chains from the edges of a linear forest. Vertices without an edge are left out.
    // Throws std::invalid_argument if an edge closes a cycle or a vertex has more than two edges.
    explicit ChainForest(const EdgeList& forest);

    std::vector<Vertex> vertex;       // the vertex at each position, chain after chain
    std::vector<EdgeIndex> edge;      // edge to the next position; no_edge at the end of a chain
    std::vector<bool> is_tail;        // whether the vertex is the tail of that edge
    std::vector<Vertex> chain_begin;  // chains are [chain_begin[c], chain_begin[c + 1])
    Vertex longest = 0;

    Vertex size() const { return static_cast<Vertex>(vertex.size()); }
    Vertex n_chains() const { return static_cast<Vertex>(chain_begin.size() - 1); }
};

}  // namespace graphtv

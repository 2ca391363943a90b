// A forest as flat arrays, in the order in which messages are passed: leaves before parents.
//
// Vertices are renumbered by their position in a depth-first post-order that visits the heaviest
// child (largest subtree) first. Every vertex comes before its parent and subtrees are contiguous.
// Apart from the messages of siblings, at most log2 n messages are stored at any time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct RootedForest {
    static constexpr Vertex no_parent = -1;

    // Builds the forest from edges on the vertices 0…n_vertices-1. Vertices without an edge are
    // left out. Throws std::invalid_argument if an edge closes a cycle.
    RootedForest(const EdgeList& forest, std::span<const double> edge_weights);

    std::vector<Vertex> vertex;   // the vertex at each position
    std::vector<Vertex> parent;   // position of the parent, or no_parent
    std::vector<EdgeIndex> edge;  // edge to the parent; undefined at a root
    std::vector<double> weight;   // of that edge; 0 at a root
    std::vector<bool> is_tail;    // whether the vertex is the tail of that edge
    std::vector<Vertex> n_children;
    std::vector<std::uint32_t> entry;  // time of entry on an Euler tour of the forest
    std::vector<Vertex> tree_begin;    // trees are [tree_begin[t], tree_begin[t + 1])

    Vertex size() const { return static_cast<Vertex>(vertex.size()); }
    Vertex n_trees() const { return static_cast<Vertex>(tree_begin.size() - 1); }
};

}  // namespace graphtv

// A forest as flat arrays in the order in which messages travel: leaves before parents.
//
// Vertices are renumbered by their position in a depth-first post-order that visits the heaviest
// child (largest subtree) first. A position comes before its parent's, subtrees are contiguous, and
// at most log2 n messages wait at any time besides those of siblings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct RootedForest {
    static constexpr Vertex no_parent = -1;

    // From the edges of a forest on 0…n_vertices-1. Vertices without an edge are left out. An edge
    // that closes a cycle is a std::invalid_argument.
    RootedForest(const EdgeList& forest, std::span<const double> edge_weights);

    std::vector<Vertex> vertex;   // the vertex at each position
    std::vector<Vertex> parent;   // position of the parent, or no_parent
    std::vector<EdgeIndex> edge;  // to the parent; meaningless at a root
    std::vector<double> weight;   // of that edge; 0 at a root
    std::vector<bool> is_tail;    // whether the vertex is the tail of that edge
    std::vector<Vertex> n_children;
    std::vector<std::uint32_t> entry;  // time of entry on an Euler tour of the forest
    std::vector<Vertex> tree_begin;    // trees are [tree_begin[t], tree_begin[t + 1])

    Vertex size() const { return static_cast<Vertex>(vertex.size()); }
    Vertex n_trees() const { return static_cast<Vertex>(tree_begin.size() - 1); }
};

}  // namespace graphtv

// The facts about a partition of the edges into forests that a user or a theorem asks for, computed
// from the labels alone in linear time: whoever made the partition, this judges it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

struct PartitionProfile {
    // Per forest. Trees are counted if they have an edge; `longest` is the number of vertices on
    // the longest path of the forest. Both mean nothing for a forest that has a cycle.
    std::vector<EdgeIndex> edges;
    std::vector<Vertex> trees;
    std::vector<Vertex> longest;
    std::vector<Vertex> max_degree;
    // The first forest that has a cycle, or -1. The facts below need acyclic forests.
    Forest cyclic = -1;
    // Whether each forest connects the ends of every edge of the next: ran Π_1 ⊇ ran Π_2 ⊇ …
    bool is_nested = true;
    // l̂: how many of the first forests span every component of the graph, ran Π_l = ran ∇ᵀ.
    Forest n_spanning = 0;
};

// Labels lie in [0, n_forests).
PartitionProfile profile_partition(const EdgeList& graph, std::span<const Forest> labels,
                                   Forest n_forests);

}  // namespace graphtv

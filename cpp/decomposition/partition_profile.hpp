// Properties of a partition of the edges into forests, for users and for the theorems. They are
// computed in linear time from the labels alone, independently of the algorithm that made the
// partition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

struct PartitionProfile {
    // Per forest. Only trees with an edge are counted; `longest` is the number of vertices on the
    // longest path of the forest. Both are undefined for a forest that has a cycle.
    std::vector<EdgeIndex> edges;
    std::vector<Vertex> trees;
    std::vector<Vertex> longest;
    std::vector<Vertex> max_degree;
    // The first forest that has a cycle, or -1. The properties below need acyclic forests.
    Forest cyclic = -1;
    // Whether each forest connects the ends of every edge of the next: ran Π_1 ⊇ ran Π_2 ⊇ …
    bool is_nested = true;
    // l̂: the number of leading forests that span every component of the graph, ran Π_l = ran ∇ᵀ.
    Forest n_spanning = 0;
};

// Labels lie in [0, n_forests).
PartitionProfile profile_partition(const EdgeList& graph, std::span<const Forest> labels,
                                   Forest n_forests);

}  // namespace graphtv

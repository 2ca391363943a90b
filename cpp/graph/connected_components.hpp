// Connected components of a graph, or of the edges that are kept.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct Components {
    Vertex count;
    std::vector<Vertex> label;  // by vertex: 0, 1, … in the order of the first vertex of each
};

// `is_kept` has an entry per edge, or none: then all edges count.
Components connected_components(const EdgeList& graph, std::span<const bool> is_kept = {});

// How many connected pieces of equal u there are.
Vertex count_pieces(const EdgeList& graph, std::span<const double> u);

}  // namespace graphtv

// Makes a multigraph simple: drops loops, sums parallel edges and drops edges of weight zero.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct WeightedEdges {
    std::vector<Edge> edges;
    std::vector<double> weights;
};

// Every edge keeps the place and the orientation of its first occurrence in the list. Weights are
// summed in order of occurrence, so a simple list is returned unchanged. Linear in vertices and
// edges. Weights must not be negative. A sum may overflow to infinity; the caller must check this.
WeightedEdges simplify(Vertex n_vertices, std::span<const Edge> edges,
                       std::span<const double> weights);

}  // namespace graphtv

// A multigraph made simple: loops dropped, parallel edges summed, edges of weight zero dropped.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct WeightedEdges {
    std::vector<Edge> edges;
    std::vector<double> weights;
};

// Every edge stays where it first occurs in the list, with the orientation it has there, and its
// weight is summed in order of occurrence: a list that is simple already comes back as it is.
// Linear in vertices and edges. The weights are not negative; a sum may overflow to infinity, which
// is left to the caller to judge.
WeightedEdges simplify(Vertex n_vertices, std::span<const Edge> edges,
                       std::span<const double> weights);

}  // namespace graphtv

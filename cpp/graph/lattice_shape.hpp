// Whether the vertices of a graph are numbered like those of a grid in row-major order, with every edge
// between neighbours: what an image becomes in the hands of those who list its edges themselves.
#pragma once

#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// Lengths of the axes, at least two of them and each at least 2. Edges may be in any order, and some may
// be missing, but not more than half of one per vertex and axis. Empty if there is no such grid.
std::vector<Vertex> lattice_shape(const EdgeList& graph);

}  // namespace graphtv

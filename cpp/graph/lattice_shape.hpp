// Detects graphs whose vertices are numbered like a grid in row-major order and whose edges all
// join grid neighbours, such as the edge list that a user builds from an image.
#pragma once

#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// The lengths of the axes: at least two axes, each of length at least 2. Edges may be in any order.
// Some edges may be missing, but there must be at least half as many as there are pairs of a vertex
// and an axis. Empty if there is no such grid.
std::vector<Vertex> lattice_shape(const EdgeList& graph);

}  // namespace graphtv

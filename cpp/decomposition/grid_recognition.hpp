// Recognition of grids (Cartesian products of paths) for any order of the vertices.
//
// The chain decomposition of a grid (one forest per axis) has the smallest condition number and the
// fastest kernels. It is therefore worth recognising a grid that the user passes as a plain graph.
// This is the special case "all factors are paths" of the factorisation of Cartesian products (W.
// Imrich and I. Peterin, Recognizing Cartesian products in linear time, Discrete Mathematics 307,
// 2007). In this case one breadth-first search yields the coordinates. The search only guesses
// them; a separate check then proves that the graph is exactly this grid.
#pragma once

#include <optional>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct Grid {
    std::vector<Vertex> shape;        // lengths of the axes, each at least 2
    std::vector<Vertex> coordinates;  // n_vertices rows of shape.size() numbers
};

// The grid that `graph` is, or nothing. The origin is the corner with the lowest number. The axes
// are ordered by the numbers of its neighbours, highest first, so that the vertices of a row-major
// grid get their usual coordinates. A single vertex is a grid of shape (1). O(vertices + edges).
std::optional<Grid> recognize_grid(const EdgeList& graph);

}  // namespace graphtv

// The reverse order of Cuthill and McKee, which keeps neighbours close to each other.
//
// E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69. A
// breadth-first search visits the neighbours of a vertex by increasing degree. Each component
// starts at its vertex of least degree. Ties go to the vertex with the smaller number. The order
// therefore depends only on the graph, and not on the order of its edge list or on the processor.
#pragma once

#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// The vertices in this order. O(n + m log(max degree)).
std::vector<Vertex> reverse_cuthill_mckee(const EdgeList& graph);

}  // namespace graphtv

// The degeneracy of a graph: the largest k such that some subgraph has all degrees at least k
// (Matula & Beck, "Smallest-last ordering and clustering and graph coloring algorithms",
// Journal of the ACM 30, 1983). The arboricity lies between half of it and itself.
#pragma once

#include <functional>

#include "graph/types.hpp"

namespace graphtv {

// Removes a vertex of least degree until none is left; O(n + m).
// `interrupt` is called now and then, and may throw.
Vertex degeneracy(const EdgeList& graph, const std::function<void()>& interrupt = [] {});

// The largest number of edges at a vertex. Looks at the watch that the caller is under.
Vertex largest_degree(const EdgeList& graph);

}  // namespace graphtv

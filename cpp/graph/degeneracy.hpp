// The degeneracy of a graph: the largest k such that some subgraph has all degrees at least k
// (Matula & Beck, "Smallest-last ordering and clustering and graph coloring algorithms", Journal of
// the ACM 30, 1983). With degeneracy k, the arboricity lies between k/2 and k.
#pragma once

#include <functional>

#include "graph/types.hpp"

namespace graphtv {

// Repeatedly removes a vertex of least degree; O(n + m). Calls `interrupt` at regular intervals; it
// may throw.
Vertex degeneracy(const EdgeList& graph, const std::function<void()>& interrupt = [] {});

// The largest number of edges at a vertex. Checks the watch of the calling thread.
Vertex largest_degree(const EdgeList& graph);

}  // namespace graphtv

// Another numbering of the vertices, in which neighbours are close to each other.
//
// Loops over edges read values at both ends. If the ends of most edges are far apart and the values
// do not fit into the cache, these loops wait for memory. The vertices are then numbered in the
// order of a breadth-first search, and the edges are sorted by their first end. The result depends
// only on the graph.
//
// Descent over single edges converges faster if consecutive edges share no vertex, and then the
// processor need not wait for the last edge either. So the edges are shuffled within blocks that
// are small enough for the cache. On neighbour graphs, 64 iterations come closer than 128 without.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

struct Renumbering {
    std::vector<Vertex> vertices;  // the old number of each vertex
    std::vector<EdgeIndex> order;  // the old number of each edge
    std::vector<Edge> edges;       // with the same orientation as before
};

// How often a loop over a sample of the edges, per edge, meets a vertex that is not in a cache of
// 2^15 values. It is about 0.1 if neighbours are close, and at least 1 in a random order.
double misses_per_edge(std::span<const Edge> edges);

// The numbering by breadth-first search, in O(n + m). Nothing if the graph expands so quickly that
// neighbours cannot be close: more than a sixteenth of all vertices have the same distance from the
// start. Throws Expired under a watch that expires.
std::optional<Renumbering> renumber(const EdgeList& graph);

}  // namespace graphtv

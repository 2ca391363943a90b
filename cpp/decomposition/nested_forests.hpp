// Greedy nested forests (Möllenhoff et al. 2018, Section 3.2.2): subtract spanning forests from the
// graph until no edge remains. Every edge of forest l + 1 closes a cycle with forest l, hence
// ran Π_1 ⊇ ran Π_2 ⊇ … and Theorem 3 gives κ = sqrt(L / l̂).
//
// The paper leaves the choice of the spanning forests open. Here they follow an order of the edges
// (heaviest first: maximum-weight spanning forests) or a traversal of the graph.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

// Successive spanning forests, each built by Kruskal's rule in the given order of the edges.
//
// Departure: all forests are built in one pass, by first fit. Kruskal gives an edge to forest l if
// forests 0 … l-1 refused it and the part of forest l chosen from earlier edges does not connect
// its ends. So the edge goes to the first forest that does not connect its ends. O(m log(max
// degree) log n). Calls `interrupt` at regular intervals; it may throw.
std::vector<Forest> nested_forests(
    const EdgeList& graph, std::span<const EdgeIndex> order,
    const std::function<void()>& interrupt = [] {});

enum class Traversal { breadth_first, depth_first };

// Successive breadth-first or depth-first forests of the remaining graph, each started at the
// lowest vertex of every component. The cost of a forest is the size of the remaining graph, so the
// total is at worst O(m L).
std::vector<Forest> traversal_forests(const EdgeList& graph, Traversal traversal);

}  // namespace graphtv

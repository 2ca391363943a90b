// The smallest number of nested forests by matroid partitioning (Edmonds 1965). The paper
// (Möllenhoff et al. 2018, Section 3.2.2) calls it optimal, but O(m³) and too expensive for its
// large graphs. The searches follow Roskind & Tarjan, "A note on finding minimum-cost edge-disjoint
// spanning trees", Mathematics of Operations Research 10 (1985).
//
// Departure: the algorithm works level by level. Let r_k be the largest number of edges that k
// disjoint forests can hold (the rank of the k-fold union of the graphic matroid). Level k keeps
// F_1 … F_{k-1} with |F_1 ∪ … ∪ F_l| = r_l for every l < k and fills F_k greedily from the
// remaining edges. It then tries to insert each further edge by an augmenting path: e takes the
// place of x_1 in one forest, x_1 that of x_2 in another, …, and x_t joins a forest in which it
// closes no cycle. The edges that cannot be inserted stay for level k + 1. Four facts:
//
// 1. An augmenting path ends in F_k. It changes only the size of the forest in which it ends. If
//    that were F_j with j < k, then F_1 ∪ … ∪ F_{k-1} would hold r_{k-1} + 1 edges. So the sizes of
//    F_1 … F_{k-1} never change, and one union-find for F_k decides where paths end. It needs no
//    deletions: exchanges along a shortest path keep the span of a forest.
// 2. An edge that fails once fails for the rest of the level: it lies in the span of the edges
//    inserted so far. So level k ends with |F_1 ∪ … ∪ F_k| = r_k, and the number of levels is the
//    smallest k with r_k = m, the arboricity.
// 3. The partition is nested. If an edge of F_{l+1} joined two trees of F_l, the first l forests
//    together with it would hold r_l + 1 edges. This holds at any time, not only between levels.
// 4. l̂ is the largest number of disjoint spanning forests: k of them exist if and only if r_k = k
//    r_1, that is, if and only if |F_1| = … = |F_k| = r_1. So sqrt(L / l̂) is the smallest value
//    that Theorem 3 can give.
//
// A failed search leaves a vertex set S on which each of the k forests is a spanning tree. No
// augmenting path of this level enters S, S stays the same until the level ends, and any edge
// within S can be rejected at once. Such sets are contracted to clumps; a search labels only edges
// between clumps and skips the others. Every failed search contracts the vertices that it has
// labelled, so all failed searches of a level together label O(k n) edges. The successful searches
// dominate the cost. On sparse random graphs the last few of a level visit most of the graph, and
// the time grows roughly with m². On grids, RMF networks and dense graphs the time is close to
// linear.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

// Each forest receives edges in the given order. Calls `interrupt` at regular intervals; it may
// throw.
std::vector<Forest> matroid_partition(const EdgeList& graph, std::span<const EdgeIndex> order,
                                      const std::function<void()>& interrupt);

}  // namespace graphtv

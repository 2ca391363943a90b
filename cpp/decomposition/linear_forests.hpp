// Greedy linear forests (Möllenhoff et al. 2018, Section 3.2.2): every tree is a path, so that the
// dual update is a set of chains. Linear forests are not nested in general, so Theorem 3 does not
// apply.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

// First fit: each edge, in the given order, goes to the first forest that stays linear. Calls
// `interrupt` at regular intervals; it may throw.
//
// Departure: the paper builds one forest at a time from a spanning forest. First fit visits every
// edge once, and the heavy edges, which come first, share the first forests. The expected time is
// at worst O(m a) with a the arboricity. It is O(m) where neighbours soon agree on an open forest,
// as at the hub of a star with its m / 2 forests.
std::vector<Forest> first_fit_linear_forests(
    const EdgeList& graph, std::span<const EdgeIndex> order,
    const std::function<void()>& interrupt = [] {});

// The paper's procedure: take a spanning forest of the remaining edges (Kruskal in the given
// order). Drop every edge at a vertex of degree above 2. Add remaining edges, in the same order,
// while the forest stays linear. Subtract the forest and repeat.
//
// Departure: a pass reads all remaining edges, but takes at most two edges at a hub. When a pass
// takes less than a twentieth of the remaining edges, first fit places the rest into separate
// forests. This bounds the number of passes by O(log m).
std::vector<Forest> residual_linear_forests(
    const EdgeList& graph, std::span<const EdgeIndex> order,
    const std::function<void()>& interrupt = [] {});

}  // namespace graphtv

// Greedy linear forests (Möllenhoff et al. 2018, Section 3.2.2): every tree is a path, so that the
// dual update is a set of chains. Linear forests are not nested in general; Theorem 3 is silent.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

// `interrupt` is called now and then, and may throw.
//
// First fit: each edge, in the given order, goes to the first forest that stays linear.
//
// Departure: the paper builds one forest at a time from a spanning forest. First fit sees every
// edge once and lets heavy edges, taken first, share the first forests. Time O(m a) expected at
// worst with a the arboricity, and O(m) where the open forests of two neighbours agree soon, as
// they do at the hub of a star with its m / 2 forests.
std::vector<Forest> first_fit_linear_forests(
    const EdgeList& graph, std::span<const EdgeIndex> order,
    const std::function<void()>& interrupt = [] {});

// The paper's procedure: take a spanning forest of what remains (Kruskal in the given order), drop
// every edge at a vertex of degree above 2 in it, then add remaining edges (in the same order)
// while the forest stays linear; subtract and repeat.
//
// Departure: a pass reads all that remains, and hubs allow only two edges a pass. When a pass takes
// less than a twentieth of what remains, the rest is placed by first fit into forests of its own,
// which bounds the number of passes by O(log m).
std::vector<Forest> residual_linear_forests(
    const EdgeList& graph, std::span<const EdgeIndex> order,
    const std::function<void()>& interrupt = [] {});

}  // namespace graphtv

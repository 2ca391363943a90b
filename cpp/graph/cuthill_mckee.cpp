#include "graph/cuthill_mckee.hpp"

#include <algorithm>
#include <utility>

#include "graph/adjacency.hpp"

namespace graphtv {

namespace {

// All vertices by degree, then by number: a counting sort.
std::vector<Vertex> by_degree(const Adjacency& adjacency) {
    const Vertex n = adjacency.n_vertices();
    EdgeIndex most = 0;
    for (Vertex v = 0; v < n; ++v) most = std::max(most, adjacency.degree(v));
    std::vector<std::size_t> place(static_cast<std::size_t>(most) + 2);
    for (Vertex v = 0; v < n; ++v) ++place[static_cast<std::size_t>(adjacency.degree(v)) + 1];
    for (std::size_t d = 1; d < place.size(); ++d) place[d] += place[d - 1];
    std::vector<Vertex> sorted(static_cast<std::size_t>(n));
    for (Vertex v = 0; v < n; ++v)
        sorted[place[static_cast<std::size_t>(adjacency.degree(v))]++] = v;
    return sorted;
}

}  // namespace

std::vector<Vertex> reverse_cuthill_mckee(const EdgeList& graph) {
    const Adjacency adjacency(graph);
    const auto rank = [&](Vertex v) { return std::pair(adjacency.degree(v), v); };
    std::vector<Vertex> order;
    order.reserve(static_cast<std::size_t>(graph.n_vertices));
    std::vector<bool> is_seen(static_cast<std::size_t>(graph.n_vertices));
    const auto see = [&](Vertex v) {
        if (is_seen[static_cast<std::size_t>(v)]) return;
        is_seen[static_cast<std::size_t>(v)] = true;
        order.push_back(v);
    };
    std::size_t visited = 0;
    for (const Vertex start : by_degree(adjacency)) {
        see(start);
        for (; visited < order.size(); ++visited) {
            const auto found = static_cast<std::ptrdiff_t>(order.size());
            for (const HalfEdge& half : adjacency[order[visited]]) see(half.to);
            std::ranges::sort(order.begin() + found, order.end(), {}, rank);
        }
    }
    std::ranges::reverse(order);
    return order;
}

}  // namespace graphtv

#include "graph/degeneracy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/adjacency.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

Vertex degeneracy(const EdgeList& graph, const std::function<void()>& interrupt) {
    interrupt();
    const Adjacency adjacency(graph);
    interrupt();
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    std::vector<Vertex> degrees(n);
    Vertex largest = 0;
    for (Vertex v = 0; v < graph.n_vertices; ++v) {
        degrees[static_cast<std::size_t>(v)] = adjacency.degree(v);
        largest = std::max(largest, adjacency.degree(v));
    }
    // `sorted` holds the vertices by current degree, and `begins` the start of each degree's block.
    // To lower the degree of a vertex, swap it with the first vertex of its block and move the
    // start of the block by one.
    std::vector<std::size_t> begins(static_cast<std::size_t>(largest) + 2);
    for (const Vertex degree : degrees) ++begins[static_cast<std::size_t>(degree) + 1];
    for (std::size_t d = 1; d < begins.size(); ++d) begins[d] += begins[d - 1];
    std::vector<Vertex> sorted(n);
    std::vector<std::size_t> places(n);
    auto next = begins;
    for (std::size_t v = 0; v < n; ++v) {
        places[v] = next[static_cast<std::size_t>(degrees[v])]++;
        sorted[places[v]] = static_cast<Vertex>(v);
    }

    Vertex result = 0;
    constexpr std::size_t between_calls = 1 << 14;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % between_calls == 0) interrupt();
        const Vertex v = sorted[i];
        const Vertex degree = degrees[static_cast<std::size_t>(v)];
        result = std::max(result, degree);
        for (const auto [to, edge] : adjacency[v]) {
            const auto w = static_cast<std::size_t>(to);
            // Vertices of degree at most deg(v) are already removed or need no update: a smaller
            // degree cannot raise the result.
            if (degrees[w] <= degree) continue;
            auto& begin = begins[static_cast<std::size_t>(degrees[w])];
            const auto first = static_cast<std::size_t>(sorted[begin]);
            std::swap(sorted[begin], sorted[places[w]]);
            std::swap(places[first], places[w]);
            ++begin;
            --degrees[w];
        }
    }
    return result;
}

Vertex largest_degree(const EdgeList& graph) {
    std::vector<Vertex> degrees(static_cast<std::size_t>(graph.n_vertices));
    for_watched(graph.edges.size(), [&](std::size_t e) {
        ++degrees[static_cast<std::size_t>(graph.edges[e].tail)];
        ++degrees[static_cast<std::size_t>(graph.edges[e].head)];
    });
    return degrees.empty() ? 0 : std::ranges::max(degrees);
}

}  // namespace graphtv

#include "graph/connected_components.hpp"

#include "graph/union_find.hpp"

namespace graphtv {

Components connected_components(const EdgeList& graph, std::span<const bool> is_kept) {
    const std::size_t m = graph.edges.size();
    UnionFind sets(graph.n_vertices);
    for (std::size_t e = 0; e < m; ++e)
        if (is_kept.empty() || is_kept[e]) sets.unite(graph.edges[e].tail, graph.edges[e].head);
    Components found{0, std::vector<Vertex>(static_cast<std::size_t>(graph.n_vertices), -1)};
    const auto label = [&](Vertex v) -> Vertex& {
        return found.label[static_cast<std::size_t>(v)];
    };
    std::vector<Vertex> label_of_root(found.label.size(), -1);
    for (Vertex v = 0; v < graph.n_vertices; ++v) {
        Vertex& of_root = label_of_root[static_cast<std::size_t>(sets.find(v))];
        if (of_root < 0) of_root = found.count++;
        label(v) = of_root;
    }
    return found;
}

Vertex count_pieces(const EdgeList& graph, std::span<const double> u) {
    UnionFind sets(graph.n_vertices);
    Vertex count = graph.n_vertices;
    for (const auto [tail, head] : graph.edges)
        if (u[static_cast<std::size_t>(tail)] == u[static_cast<std::size_t>(head)])
            count -= sets.unite(tail, head) ? 1 : 0;
    return count;
}

}  // namespace graphtv

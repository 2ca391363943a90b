#include "graph/simplify.hpp"

#include <algorithm>
#include <utility>

namespace graphtv {

WeightedEdges simplify(Vertex n_vertices, std::span<const Edge> edges,
                       std::span<const double> weights) {
    // total[e] becomes the total weight of all edges parallel to e if e is the first of them, else
    // zero.
    std::vector<double> total(weights.begin(), weights.end());

    // A stable counting sort by the smaller end. Afterwards the edges with smaller end v are
    // incidences[offsets[v]] … incidences[offsets[v + 1] - 1], in order of occurrence.
    struct Incidence {
        Vertex high;
        EdgeIndex edge;
    };
    const auto n = static_cast<std::size_t>(n_vertices);
    std::vector<EdgeIndex> offsets(n + 1);
    for (const auto [tail, head] : edges) ++offsets[static_cast<std::size_t>(std::min(tail, head))];
    EdgeIndex end = 0;
    for (auto& offset : offsets) offset = end += offset;
    std::vector<Incidence> incidences(edges.size());
    for (auto e = edges.size(); e-- > 0;) {
        const auto [low, high] = std::minmax(edges[e].tail, edges[e].head);
        const auto place = --offsets[static_cast<std::size_t>(low)];
        incidences[static_cast<std::size_t>(place)] = {high, static_cast<EdgeIndex>(e)};
    }

    // latest[high]: the last edge to `high` that was the first of its parallel class, and its
    // smaller end.
    struct Latest {
        Vertex low;
        EdgeIndex edge;
    };
    std::vector<Latest> latest(n, {-1, -1});
    for (Vertex low = 0; low < n_vertices; ++low) {
        const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(low)]);
        const auto stop = static_cast<std::size_t>(offsets[static_cast<std::size_t>(low) + 1]);
        for (auto i = begin; i < stop; ++i) {
            const auto [high, edge] = incidences[i];
            auto& weight = total[static_cast<std::size_t>(edge)];
            auto& first = latest[static_cast<std::size_t>(high)];
            if (high == low) {
                weight = 0;
            } else if (first.low == low) {
                total[static_cast<std::size_t>(first.edge)] += std::exchange(weight, 0);
            } else {
                first = {low, edge};
            }
        }
    }

    WeightedEdges simple;
    const auto kept = edges.size() - static_cast<std::size_t>(std::ranges::count(total, 0.0));
    simple.edges.reserve(kept);
    simple.weights.reserve(kept);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        if (total[e] == 0) continue;
        simple.edges.push_back(edges[e]);
        simple.weights.push_back(total[e]);
    }
    return simple;
}

}  // namespace graphtv

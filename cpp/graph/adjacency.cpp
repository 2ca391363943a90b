#include "graph/adjacency.hpp"

#include "parallel/watch.hpp"

namespace graphtv {

Adjacency::Adjacency(const EdgeList& graph)
    : offsets_(static_cast<std::size_t>(graph.n_vertices) + 1),
      half_edges_(2 * graph.edges.size()) {
    // A counting sort by vertex: degrees, running sums, placement from the back.
    const std::size_t m = graph.edges.size();
    for_watched(m, [&](std::size_t e) {
        ++offsets_[static_cast<std::size_t>(graph.edges[e].tail)];
        ++offsets_[static_cast<std::size_t>(graph.edges[e].head)];
    });
    std::int64_t end = 0;
    for (auto& offset : offsets_) offset = end += offset;
    for_watched(m, [&](std::size_t i) {
        const auto e = static_cast<EdgeIndex>(m - 1 - i);
        const auto [tail, head] = graph.edges[m - 1 - i];
        const auto place = [&](Vertex v) -> HalfEdge& {
            return half_edges_[static_cast<std::size_t>(--offsets_[static_cast<std::size_t>(v)])];
        };
        place(tail) = {head, e};
        place(head) = {tail, e};
    });
}

}  // namespace graphtv

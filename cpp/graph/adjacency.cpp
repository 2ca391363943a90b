#include "graph/adjacency.hpp"

namespace graphtv {

Adjacency::Adjacency(const EdgeList& graph)
    : offsets_(static_cast<std::size_t>(graph.n_vertices) + 1),
      half_edges_(2 * graph.edges.size()) {
    // A counting sort by vertex: degrees, running sums, placement from the back.
    for (const auto [tail, head] : graph.edges) {
        ++offsets_[static_cast<std::size_t>(tail)];
        ++offsets_[static_cast<std::size_t>(head)];
    }
    std::int64_t end = 0;
    for (auto& offset : offsets_) offset = end += offset;
    for (auto e = graph.size() - 1; e >= 0; --e) {
        const auto [tail, head] = graph.edges[static_cast<std::size_t>(e)];
        const auto place = [&](Vertex v) -> HalfEdge& {
            return half_edges_[static_cast<std::size_t>(--offsets_[static_cast<std::size_t>(v)])];
        };
        place(tail) = {head, e};
        place(head) = {tail, e};
    }
}

}  // namespace graphtv

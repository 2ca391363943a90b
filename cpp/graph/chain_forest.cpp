#include "graph/chain_forest.hpp"

#include <algorithm>
#include <stdexcept>

#include "graph/adjacency.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

ChainForest::ChainForest(const EdgeList& forest) : chain_begin(1, 0) {
    const Adjacency adjacency(forest);
    std::size_t n_touched = 0;
    for (Vertex v = 0; v < forest.n_vertices; ++v) {
        if (adjacency.degree(v) > 2)
            throw std::invalid_argument("a vertex has more than two edges");
        n_touched += adjacency.degree(v) > 0;
    }
    vertex.reserve(n_touched);
    edge.reserve(n_touched);
    is_tail.reserve(n_touched);

    // Walk each chain from one end. Skip ends that were already reached from the other end.
    std::vector<bool> seen(static_cast<std::size_t>(forest.n_vertices));
    for (Vertex start = 0; start < forest.n_vertices; ++start) {
        if (start % 4096 == 0) Watched::look();
        if (adjacency.degree(start) != 1 || seen[static_cast<std::size_t>(start)]) continue;
        Vertex previous = -1, current = start;
        for (bool at_end = false; !at_end;) {
            seen[static_cast<std::size_t>(current)] = true;
            const auto half_edges = adjacency[current];
            const auto onward =
                std::find_if(half_edges.begin(), half_edges.end(),
                             [&](const HalfEdge& half_edge) { return half_edge.to != previous; });
            at_end = onward == half_edges.end();
            const EdgeIndex e = at_end ? no_edge : onward->edge;
            vertex.push_back(current);
            edge.push_back(e);
            is_tail.push_back(!at_end && forest.edges[static_cast<std::size_t>(e)].tail == current);
            if (!at_end) {
                previous = current;
                current = onward->to;
            }
        }
        longest = std::max(longest, size() - chain_begin.back());
        chain_begin.push_back(size());
    }
    if (vertex.size() != n_touched) throw std::invalid_argument("the edges close a cycle");
}

}  // namespace graphtv

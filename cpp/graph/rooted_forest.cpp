#include "graph/rooted_forest.hpp"

#include <stdexcept>

#include "graph/adjacency.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

namespace {

constexpr Vertex unseen = -1;

// The vertices of the forest in breadth-first order, and the half-edge from each to its parent.
struct BreadthFirst {
    std::vector<Vertex> order;
    std::vector<HalfEdge> up;  // by vertex; `to` is unseen at roots

    explicit BreadthFirst(const Adjacency& adjacency)
        : up(at(adjacency.n_vertices()), HalfEdge{unseen, 0}) {
        std::vector<bool> seen(up.size());
        for (Vertex root = 0; root < adjacency.n_vertices(); ++root) {
            if (seen[at(root)] || adjacency.degree(root) == 0) continue;
            seen[at(root)] = true;
            order.push_back(root);
            for (std::size_t next = order.size() - 1; next < order.size(); ++next) {
                if (next % between_looks == 0) Watched::look();
                const Vertex v = order[next];
                for (const auto [child, edge] : adjacency[v]) {
                    if (child == up[at(v)].to) continue;
                    if (seen[at(child)]) throw std::invalid_argument("the edges close a cycle");
                    seen[at(child)] = true;
                    up[at(child)] = {v, edge};
                    order.push_back(child);
                }
            }
        }
    }
};

}  // namespace

RootedForest::RootedForest(const EdgeList& forest, std::span<const double> edge_weights) {
    const Adjacency adjacency(forest);
    const BreadthFirst search(adjacency);
    const auto& order = search.order;
    const auto n = order.size();

    std::vector<Vertex> subtree(search.up.size(), 1), heaviest(search.up.size(), unseen);
    for (auto i = n; i-- > 0;) {
        if (i % between_looks == 0) Watched::look();
        const Vertex v = order[i], p = search.up[at(v)].to;
        if (p == unseen) continue;
        subtree[at(p)] += subtree[at(v)];
        if (heaviest[at(p)] == unseen || subtree[at(heaviest[at(p)])] < subtree[at(v)])
            heaviest[at(p)] = v;
    }

    vertex.resize(n);
    parent.resize(n);
    edge.resize(n);
    weight.resize(n);
    is_tail.resize(n);
    n_children.assign(n, 0);
    entry.resize(n);
    tree_begin.assign(1, 0);
    // Top down: the subtree of v occupies [begin, begin + subtree). v is last in it, and the
    // subtrees of its children follow each other, the largest first. In the Euler tour, v is
    // entered after two events for every vertex before its subtree and one event for every
    // ancestor.
    std::vector<Vertex> begin(search.up.size()), depth(search.up.size()), place(search.up.size());
    for (std::size_t i = 0; i < n; ++i) {
        if (i % between_looks == 0) Watched::look();
        const Vertex v = order[i];
        const auto [p, up_edge] = search.up[at(v)];
        if (p == unseen) {
            begin[at(v)] = tree_begin.back();
            tree_begin.push_back(begin[at(v)] + subtree[at(v)]);
        }
        place[at(v)] = begin[at(v)] + subtree[at(v)] - 1;
        const auto position = at(place[at(v)]);
        vertex[position] = v;
        edge[position] = up_edge;
        if (p == unseen) {
            parent[position] = no_parent;
        } else {
            parent[position] = place[at(p)];
            weight[position] = edge_weights[at(up_edge)];
            is_tail[position] = forest.edges[at(up_edge)].tail == v;
        }
        entry[position] =
            2 * static_cast<std::uint32_t>(begin[at(v)]) + static_cast<std::uint32_t>(depth[at(v)]);
        Vertex next = begin[at(v)];
        const auto descend = [&](Vertex child) {
            begin[at(child)] = next;
            depth[at(child)] = depth[at(v)] + 1;
            next += subtree[at(child)];
        };
        if (heaviest[at(v)] != unseen) descend(heaviest[at(v)]);
        for (const auto [child, e] : adjacency[v]) {
            if (child == p) continue;
            ++n_children[position];
            if (child != heaviest[at(v)]) descend(child);
        }
    }
}

}  // namespace graphtv

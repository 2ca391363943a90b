#include "decomposition/partition_profile.hpp"

#include <algorithm>

#include "graph/union_find.hpp"
#include "parallel/watch.hpp"

namespace graphtv {
namespace {

// Removes leaves from one forest after another. Each vertex stores its degree and the exclusive or
// of its neighbours; when one neighbour is left, that value is the parent. This removes every edge
// if and only if there is no cycle.
class LeafStripper {
  public:
    explicit LeafStripper(Vertex n_vertices) : nodes_(static_cast<std::size_t>(n_vertices)) {}

    struct Facts {
        bool is_acyclic;
        Vertex trees;
        Vertex longest;
        Vertex max_degree;
    };

    // Processes the next forest l, given as the edges `members`.
    Facts strip(Forest l, const EdgeList& graph, std::span<const EdgeIndex> members) {
        vertices_.clear();
        for_watched(members.size(), [&](std::size_t i) {
            const auto [tail, head] = graph.edges[static_cast<std::size_t>(members[i])];
            attach(tail, head, l);
            attach(head, tail, l);
        });
        Facts facts{true, 0, 0, 0};
        for (const Vertex v : vertices_) {
            facts.max_degree = std::max(facts.max_degree, node(v).degree);
        }
        order_.clear();
        std::size_t until_look = 0;
        for (const Vertex leaf : vertices_) {
            if (order_.size() >= until_look) {
                Watched::look();
                until_look = order_.size() + between_looks;
            }
            // Continue upwards while the removal of the leaf makes its parent a leaf.
            for (Vertex v = leaf; node(v).degree == 1;) {
                Node& child = node(v);
                const Vertex up = child.neighbours;
                Node& parent = node(up);
                facts.longest = std::max(facts.longest, child.height + parent.height + 2);
                parent.height = std::max(parent.height, child.height + 1);
                parent.neighbours ^= v;
                --parent.degree;
                child.degree = 0;
                order_.push_back(v);
                v = up;
            }
        }
        facts.is_acyclic = order_.size() == members.size();
        facts.trees = static_cast<Vertex>(vertices_.size() - order_.size());
        // Roots first: the root identifies the tree. A removed vertex still stores its parent.
        for (const Vertex v : vertices_) node(v).tree = v;
        for_watched(order_.size(), [&](std::size_t i) {
            Node& here = node(order_[order_.size() - 1 - i]);
            here.tree = node(here.neighbours).tree;
        });
        return facts;
    }

    // Whether forest l, the last one processed, connects u and v.
    bool connects(Forest l, Vertex u, Vertex v) const {
        const Node& a = nodes_[static_cast<std::size_t>(u)];
        const Node& b = nodes_[static_cast<std::size_t>(v)];
        return a.forest == l && b.forest == l && a.tree == b.tree;
    }

  private:
    struct Node {
        Forest forest = -1;  // the last forest with an edge here; the other fields belong to it
        Vertex degree = 0;
        Vertex neighbours = 0;
        Vertex height = 0;
        Vertex tree = 0;
    };

    void attach(Vertex v, Vertex to, Forest l) {
        Node& here = node(v);
        if (here.forest != l) {
            here = {l, 0, 0, 0, 0};
            vertices_.push_back(v);
        }
        ++here.degree;
        here.neighbours ^= to;
    }

    Node& node(Vertex v) { return nodes_[static_cast<std::size_t>(v)]; }

    std::vector<Node> nodes_;
    std::vector<Vertex> vertices_;  // vertices with an edge in the forest
    std::vector<Vertex> order_;     // removed vertices, children before parents
};

}  // namespace

PartitionProfile profile_partition(const EdgeList& graph, std::span<const Forest> labels,
                                   Forest n_forests) {
    const auto count = static_cast<std::size_t>(n_forests);
    // The edges of forest l are members[begins[l]] … members[begins[l + 1] - 1].
    std::vector<EdgeIndex> begins(count + 1);
    Watched::look();
    for (const Forest l : labels) ++begins[static_cast<std::size_t>(l) + 1];
    for (std::size_t l = 0; l < count; ++l) begins[l + 1] += begins[l];
    std::vector<EdgeIndex> members(labels.size());
    auto next = begins;
    for_watched(labels.size(), [&](std::size_t e) {
        const auto l = static_cast<std::size_t>(labels[e]);
        members[static_cast<std::size_t>(next[l]++)] = static_cast<EdgeIndex>(e);
    });

    UnionFind components(graph.n_vertices);
    EdgeIndex rank = 0;
    for_watched(graph.edges.size(), [&](std::size_t e) {
        rank += components.unite(graph.edges[e].tail, graph.edges[e].head) ? 1 : 0;
    });

    PartitionProfile profile;
    LeafStripper stripper(graph.n_vertices);
    for (Forest l = 0; l < n_forests; ++l) {
        const auto begin = begins[static_cast<std::size_t>(l)];
        const auto size = begins[static_cast<std::size_t>(l) + 1] - begin;
        const auto forest = std::span<const EdgeIndex>(members).subspan(
            static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
        if (l > 0 && profile.is_nested) {
            std::size_t n_seen = 0;
            profile.is_nested = std::ranges::all_of(forest, [&](EdgeIndex e) {
                if (n_seen++ % between_looks == 0) Watched::look();
                const auto [tail, head] = graph.edges[static_cast<std::size_t>(e)];
                return stripper.connects(l - 1, tail, head);
            });
        }
        const auto facts = stripper.strip(l, graph, forest);
        profile.edges.push_back(size);
        profile.trees.push_back(facts.trees);
        profile.longest.push_back(facts.longest);
        profile.max_degree.push_back(facts.max_degree);
        if (!facts.is_acyclic && profile.cyclic < 0) profile.cyclic = l;
        if (size == rank && profile.n_spanning == l) ++profile.n_spanning;
    }
    return profile;
}

}  // namespace graphtv

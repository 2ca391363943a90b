#include "decomposition/nested_forests.hpp"

#include <cstdint>

#include "decomposition/layered_union_find.hpp"
#include "graph/adjacency.hpp"

namespace graphtv {

std::vector<Forest> nested_forests(const EdgeList& graph, std::span<const EdgeIndex> order,
                                   const std::function<void()>& interrupt) {
    std::vector<Forest> labels(graph.edges.size());
    interrupt();
    LayeredUnionFind forests(graph);
    constexpr std::size_t between_calls = 1 << 14;
    std::size_t n_placed = 0;
    for (const EdgeIndex e : order) {
        if (n_placed++ % between_calls == 0) interrupt();
        const auto [tail, head] = graph.edges[static_cast<std::size_t>(e)];
        labels[static_cast<std::size_t>(e)] = forests.insert(tail, head);
    }
    return labels;
}

namespace {

// The remaining graph: a list of half-edges at each vertex that shrinks in place.
//
// The edges of a forest at v are the edge that discovered v and those by which v discovers others.
// Both are known once the traversal has read v's list, so reading a list also removes them from it.
class ResidualGraph {
  public:
    explicit ResidualGraph(const EdgeList& graph)
        : labels_(graph.edges.size(), -1),
          lists_(static_cast<std::size_t>(graph.n_vertices)),
          seen_(static_cast<std::size_t>(graph.n_vertices), -1) {
        const Adjacency adjacency(graph);
        half_edges_.reserve(2 * graph.edges.size());
        for (Vertex v = 0; v < graph.n_vertices; ++v) {
            const auto begin = static_cast<std::int64_t>(half_edges_.size());
            half_edges_.insert(half_edges_.end(), adjacency[v].begin(), adjacency[v].end());
            const auto end = static_cast<std::int64_t>(half_edges_.size());
            list(v) = {begin, begin, begin, end};
            if (begin < end) active_.push_back(v);
        }
    }

    std::vector<Forest> partition(Traversal traversal) {
        for (forest_ = 0; !active_.empty(); ++forest_) {
            for (const Vertex root : active_) {
                if (seen(root) == forest_) continue;
                seen(root) = forest_;
                if (traversal == Traversal::breadth_first) {
                    breadth_first(root);
                } else {
                    depth_first(root);
                }
            }
            std::erase_if(active_, [this](Vertex v) { return list(v).begin == list(v).end; });
        }
        return std::move(labels_);
    }

  private:
    static constexpr Vertex none = -1;

    // The half-edges [begin, end) of a vertex. During a traversal, those before `read` have been
    // read, and those before `kept` are kept.
    struct List {
        std::int64_t begin, kept, read, end;
    };

    // Continues to read v's list up to the next vertex that v discovers. Returns none at its end.
    Vertex discover(Vertex v) {
        auto& [begin, kept, read, end] = list(v);
        while (read < end) {
            const HalfEdge half = half_edges_[static_cast<std::size_t>(read++)];
            auto& label = labels_[static_cast<std::size_t>(half.edge)];
            if (label == forest_) continue;
            if (seen(half.to) != forest_) {
                seen(half.to) = label = forest_;
                return half.to;
            }
            half_edges_[static_cast<std::size_t>(kept++)] = half;
        }
        end = kept;
        read = kept = begin;
        return none;
    }

    void breadth_first(Vertex root) {
        waiting_.assign(1, root);
        for (std::size_t next = 0; next < waiting_.size(); ++next) {
            const Vertex v = waiting_[next];
            for (Vertex to = discover(v); to != none; to = discover(v)) waiting_.push_back(to);
        }
    }

    void depth_first(Vertex root) {
        waiting_.assign(1, root);
        while (!waiting_.empty()) {
            const Vertex to = discover(waiting_.back());
            if (to == none) {
                waiting_.pop_back();
            } else {
                waiting_.push_back(to);
            }
        }
    }

    List& list(Vertex v) { return lists_[static_cast<std::size_t>(v)]; }
    Forest& seen(Vertex v) { return seen_[static_cast<std::size_t>(v)]; }

    Forest forest_ = 0;
    std::vector<Forest> labels_;
    std::vector<List> lists_;
    std::vector<HalfEdge> half_edges_;
    std::vector<Forest> seen_;     // the last forest that discovered the vertex
    std::vector<Vertex> active_;   // the vertices with edges left, ascending
    std::vector<Vertex> waiting_;  // the queue or stack of the traversal
};

}  // namespace

std::vector<Forest> traversal_forests(const EdgeList& graph, Traversal traversal) {
    return ResidualGraph(graph).partition(traversal);
}

}  // namespace graphtv

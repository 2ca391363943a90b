#include "decomposition/matroid_partition.hpp"

#include <cstdint>
#include <utility>

#include "graph/union_find.hpp"

namespace graphtv {
namespace {

constexpr std::int32_t none = -1;

class MatroidPartition {
  public:
    MatroidPartition(const EdgeList& graph, const std::function<void()>& interrupt)
        : graph_(graph),
          interrupt_(interrupt),
          layers_(graph),
          labels_(graph.edges.size(), none),
          up_(layers_.size(), {none, none}),
          reached_(layers_.size()),
          predecessors_(graph.edges.size()),
          trees_(0),
          clumps_(0) {}

    std::vector<Forest> partition(std::span<const EdgeIndex> order) {
        std::vector<EdgeIndex> leftover(order.begin(), order.end());
        std::size_t rank = 0;
        for (last_ = 0; !leftover.empty(); ++last_) {
            std::size_t size = leftover.size();
            fill_last_forest(leftover);
            size -= leftover.size();
            if (last_ == 0) rank = size;
            std::erase_if(leftover, [&](EdgeIndex e) {
                // F_k is spanning: no edge can be added, and the level is complete.
                if (size == rank || !search(e)) return false;
                ++size;
                return true;
            });
        }
        return std::move(labels_);
    }

  private:
    // The parent of a vertex in a rooted forest, and the edge to it. Roots have neither.
    struct Up {
        Vertex vertex;
        EdgeIndex edge;
    };

    // Initialises F_k with a spanning forest of the remaining edges, and removes its edges from
    // them.
    void fill_last_forest(std::vector<EdgeIndex>& leftover) {
        trees_ = UnionFind(graph_.n_vertices);
        clumps_ = UnionFind(graph_.n_vertices);
        std::erase_if(leftover, [this](EdgeIndex e) {
            const auto [tail, head] = ends(e);
            if (trees_.find(tail) == trees_.find(head)) return false;
            join_trees(e);
            return true;
        });
    }

    // Tries to insert e into the k forests. The search labels edges breadth first: from a labelled
    // edge x, it labels in each forest without x the edges of the path between the ends of x. Any
    // of these edges could be exchanged for x.
    //
    // All forests are rooted at one end r of e. In each forest the labelled edges form a subtree at
    // r. When an edge y leaves the queue, one of its ends is in every subtree, so walking up from
    // the other end finds all edges that y labels. Proof: y was labelled on a walk up from an end
    // of x, and this end was in all subtrees once x was processed. By induction along the walk the
    // same holds for both ends of each earlier edge of the walk, including the edge before y. When
    // the queue is empty, all subtrees have the same vertices.
    bool search(EdgeIndex e) {
        const Vertex root = ends(e).tail;
        const Vertex root_clump = clumps_.find(root);
        if (root_clump == clumps_.find(ends(e).head)) return false;
        ++search_;
        for (Forest l = 0; l <= last_; ++l) {
            evert(root, l);
            reached_[layers_(root_clump, l)] = search_;
        }
        queue_.assign(1, e);
        predecessors_[static_cast<std::size_t>(e)] = none;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            if (++steps_ % 4096 == 0) interrupt_();
            const EdgeIndex x = queue_[next];
            const auto [tail, head] = ends(x);
            const Vertex tail_clump = clumps_.find(tail);
            for (Forest l = 0; l <= last_; ++l) {
                if (l == label(x)) continue;
                const bool tail_is_in = reached_[layers_(tail_clump, l)] == search_;
                const EdgeIndex end = label_path(tail_is_in ? head : tail, l, x);
                if (end != none) {
                    augment(end);
                    return true;
                }
            }
        }
        for (const EdgeIndex x : queue_) clumps_.unite(ends(x).tail, ends(x).head);
        return false;
    }

    // Labels the edges of F_l from v up to the labelled subtree, with x as their predecessor.
    // Returns an edge that joins two trees of F_k, if there is one: this completes an augmenting
    // path.
    EdgeIndex label_path(Vertex v, Forest l, EdgeIndex x) {
        Vertex clump = clumps_.find(v);
        while (reached_[layers_(clump, l)] != search_) {
            reached_[layers_(clump, l)] = search_;
            Vertex above = clump;
            EdgeIndex edge = none;
            while (above == clump) {
                const Up up = up_[layers_(v, l)];
                v = up.vertex;
                edge = up.edge;
                above = clumps_.find(v);
            }
            clump = above;
            predecessors_[static_cast<std::size_t>(edge)] = x;
            if (l != last_ && trees_.find(ends(edge).tail) != trees_.find(ends(edge).head)) {
                return edge;
            }
            queue_.push_back(edge);
        }
        return none;
    }

    // Moves x into F_k, and every edge on the path back to the start into the place of its
    // successor.
    //
    // The exchanges are made in this order, the last one first, so that every intermediate step is
    // a forest. On a shortest path an edge labels no edge beyond its successor. The later exchanges
    // therefore have not changed the cycle on which its own exchange depends.
    void augment(EdgeIndex x) {
        Forest vacated = label(x);
        join_trees(x);
        while (vacated != none) {
            const EdgeIndex successor =
                std::exchange(x, predecessors_[static_cast<std::size_t>(x)]);
            const Forest l = std::exchange(vacated, label(x));
            replace(successor, x, l);
        }
    }

    // Adds x to F_k, where it joins two trees. The smaller tree becomes a subtree of the other.
    void join_trees(EdgeIndex x) {
        auto [child, parent] = ends(x);
        if (trees_.size(child) > trees_.size(parent)) std::swap(child, parent);
        hang(child, parent, x, last_);
        trees_.unite(child, parent);
    }

    // Replaces `out` by `in` in F_l. Without `out` the tree has two parts, which `in` joins again.
    void replace(EdgeIndex out, EdgeIndex in, Forest l) {
        const auto [a, b] = ends(out);
        const Vertex loose = up_[layers_(a, l)].edge == out ? a : b;
        up_[layers_(loose, l)] = {none, none};
        const auto [tail, head] = ends(in);
        Vertex root = tail;
        for (Vertex v = tail; v != none; v = up_[layers_(v, l)].vertex) root = v;
        if (root == loose) {
            hang(tail, head, in, l);
        } else {
            hang(head, tail, in, l);
        }
    }

    void hang(Vertex child, Vertex parent, EdgeIndex x, Forest l) {
        evert(child, l);
        up_[layers_(child, l)] = {parent, x};
        label(x) = l;
    }

    // Makes v the root of its tree in F_l.
    void evert(Vertex v, Forest l) {
        Up above{none, none};
        while (v != none) {
            const Up next = std::exchange(up_[layers_(v, l)], above);
            above = {v, next.edge};
            v = next.vertex;
        }
    }

    Edge ends(EdgeIndex e) const { return graph_.edges[static_cast<std::size_t>(e)]; }
    Forest& label(EdgeIndex e) { return labels_[static_cast<std::size_t>(e)]; }

    EdgeList graph_;
    const std::function<void()>& interrupt_;
    VertexLayers layers_;
    std::vector<Forest> labels_;
    std::vector<Up> up_;  // by (vertex, forest)
    Forest last_ = 0;     // F_k, counted from 0

    std::uint32_t search_ = 0;
    std::uint64_t steps_ = 0;
    std::vector<std::uint32_t> reached_;  // by (clump, forest): the last search that labelled it
    std::vector<EdgeIndex> queue_;
    std::vector<EdgeIndex> predecessors_;
    UnionFind trees_;   // of F_k
    UnionFind clumps_;  // of vertices
};

}  // namespace

std::vector<Forest> matroid_partition(const EdgeList& graph, std::span<const EdgeIndex> order,
                                      const std::function<void()>& interrupt) {
    return MatroidPartition(graph, interrupt).partition(order);
}

}  // namespace graphtv

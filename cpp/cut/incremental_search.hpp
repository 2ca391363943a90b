// Maximum flow by incremental breadth-first search:
// A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan, R. F. Werneck, Maximum flows by incremental
// breadth-first search, ESA 2011.
//
// Two search trees grow level by level. One holds all vertices that excess can reach over a given
// number of arcs, the other all vertices that can reach a deficit. Where they meet, flow is sent
// from root to root. A vertex whose arc to its parent is then saturated looks for another parent.
// Its label is a lower bound on the distance to a root and never decreases. Hence the number of
// paths depends only on the graph, and not on the capacities.
//
// Departures: there are no terminals. Every vertex with excess is a root of one tree, and every
// vertex with a deficit is a root of the other. The search can therefore start from any flow. A
// vertex finds its children by scanning its arcs. Orphans first leave the tree and then return by a
// separate breadth-first search, so that no orphan relies on another one that has lost its root
// too. The tree with the smaller frontier grows next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cut/residual_network.hpp"

namespace graphtv {

enum class CutEnd { finished, exhausted, expired };

template <class Network>
class IncrementalSearch {
  public:
    using Capacity = typename Network::Amount;

    IncrementalSearch(Network& network, std::span<Capacity> excess);

    // finished: no path leads from excess to a deficit. exhausted: more than `most_looks` arcs were
    // scanned. The flow is feasible in every case.
    CutEnd run(std::uint64_t most_looks, Watch& watch);

    // Whether a vertex is on the source side of a cut. The cut is minimum if the search has
    // finished.
    bool is_source_side(std::size_t v) const;

    std::uint64_t n_paths = 0, n_looks = 0;

  private:
    // Levels are positive in the tree of the sources and negative in that of the sinks. Roots have
    // ±1, and 0 means no tree.
    using Level = std::int32_t;
    struct Node {
        Level level = 0;
        std::uint32_t parent = no_arc;  // the arc to it
        std::uint32_t next = 0;         // in its list
    };
    enum Tree { sources, sinks };
    static constexpr std::uint32_t no_arc = ~std::uint32_t{0}, root = no_arc - 1;
    static constexpr std::uint32_t no_vertex = ~std::uint32_t{0};

    // Whether an arc of v can make its head a child of v (leads_away) or its parent (leads_here).
    template <Tree tree>
    bool leads_away(std::uint32_t a) const {
        return tree == sources ? network_.is_open(a) : network_.is_reverse_open(a);
    }
    template <Tree tree>
    bool leads_here(std::uint32_t a) const {
        return tree == sources ? network_.is_reverse_open(a) : network_.is_open(a);
    }
    template <Tree tree>
    Level depth(std::size_t v) const {
        return tree == sources ? nodes_[v].level : -nodes_[v].level;
    }
    template <Tree tree>
    void set_depth(std::size_t v, Level depth) {
        nodes_[v].level = tree == sources ? depth : -depth;
    }

    bool is_over() const { return n_roots_[sources] == 0 || n_roots_[sinks] == 0; }
    template <Tree tree>
    CutEnd grow(std::uint64_t most_looks, Watch& watch);
    template <Tree tree>
    void scan(std::size_t v);
    void augment(std::size_t v, std::uint32_t bridge, std::size_t w);
    template <Tree tree>
    Capacity bottleneck(std::size_t& v, Capacity amount) const;
    template <Tree tree>
    void send(std::size_t v, Capacity amount);
    template <Tree tree>
    void orphan(std::size_t v);
    template <Tree tree>
    void adopt_orphans();
    template <Tree tree>
    void adopt(std::size_t v);
    template <Tree tree>
    void find_place(std::size_t v);
    template <Tree tree>
    void settle(std::size_t v, std::uint32_t parent, Level level);
    template <Tree tree>
    void invite(std::size_t v);
    void enlist(std::size_t v, Level level);
    std::uint32_t unlist(Level level);

    Network& network_;
    std::span<Capacity> excess_;
    std::vector<Node> nodes_;
    std::size_t n_roots_[2] = {0, 0};
    Level deepest_[2] = {1, 1};  // complete levels of each tree
    Level allowed_[2] = {1, 1};  // one more for the tree that grows
    std::vector<std::uint32_t> frontier_[2], next_;
    std::vector<std::uint32_t> listed_;  // one list per level: orphans, or vertices that return
    Level first_listed_ = std::numeric_limits<Level>::max(), last_listed_ = 0;
    std::vector<std::uint32_t> lost_;
};

}  // namespace graphtv

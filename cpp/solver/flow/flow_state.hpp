// The state of each vertex that the flow algorithms share. Components are disjoint sets of vertices
// without open edges between them. Several threads can therefore work on the same arrays, each in a
// different component.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/flow/undirected_network.hpp"

namespace graphtv {

// The state of a vertex: at rest between rounds, in a component that is being solved, or also in
// the search tree of the sources (reached from excess) or of the sinks (reaches a deficit).
enum class Side : std::uint8_t { resting, free, source, sink };

struct SearchNode {
    Arc up;                       // the arc to the parent in the vertex's tree
    Vertex parent;                // the other end of that arc
    std::uint32_t level : 31;     // distance to a root
    std::uint32_t is_active : 1;  // whether it waits in the search queue
    std::uint32_t time;           // when the level was last updated

    bool is_root() const { return parent == root; }
    bool is_orphan() const { return parent == none; }
    void set_level(std::uint32_t distance) { level = distance & unreached; }

    static constexpr Vertex root = -1, none = -2;
    static constexpr std::uint32_t unreached = 0x7FFFFFFF;  // a level that no vertex has
};

inline constexpr Vertex no_vertex = -1;

struct FlowState {
    UndirectedNetwork network;
    std::vector<double> excess;  // e_v = -G_v'(m) - (Kᵀp)_v while solving; (Kᵀp)_v at rest
    std::vector<Side> side;
    std::vector<SearchNode> node;
    std::vector<Vertex> order;  // components being solved, each contiguous, in breadth-first order
    std::vector<Vertex> spare;  // the same positions, for queues and for parts

    explicit FlowState(UndirectedNetwork&& given)
        : network(std::move(given)),
          excess(n()),
          side(n(), Side::resting),
          node(n()),
          order(n()),
          spare(n()) {}

    std::size_t n() const { return static_cast<std::size_t>(network.n_vertices()); }

    std::size_t n_bytes() const {
        return network.n_bytes() +
               n() * (sizeof(double) + sizeof(Side) + sizeof(SearchNode) + 2 * sizeof(Vertex));
    }

    double& e(Vertex v) { return excess[static_cast<std::size_t>(v)]; }
    Side& at(Vertex v) { return side[static_cast<std::size_t>(v)]; }
    SearchNode& tree(Vertex v) { return node[static_cast<std::size_t>(v)]; }

    // Moves flow along the arc a from v to w.
    void push(Vertex v, Arc a, Vertex w, double amount) {
        network.push(a, amount);
        e(v) -= amount;
        e(w) += amount;
    }
};

// Which minimum cuts split a component of value m. If G has kinks, its slopes at m are intervals:
// the cut at the upper slopes tells which vertices belong above m, and the cut at the lower slopes
// which belong below. Without kinks, both are one.
enum class Level : std::uint8_t { at, above, below };

// A component that is being solved: its positions in FlowState::order, and its tolerances.
struct Component {
    std::size_t begin, end;
    bool is_part = false;  // of a component that was split
    Level level = Level::at;
    double tolerance = 0.0;           // of excess
    double capacity_tolerance = 0.0;  // of residuals
    bool is_balanced = false;         // no flow is needed

    std::size_t size() const { return end - begin; }
    // At the level above, a deficit is room that a kink offers to excess: it is no use elsewhere.
    // At the level below, the same holds for excess.
    bool moves_excess() const { return level != Level::below; }
    bool moves_deficits() const { return level != Level::above; }
    std::span<const Vertex> vertices(const FlowState& state) const {
        return {state.order.data() + begin, size()};
    }
    std::span<Vertex> spare(FlowState& state) const { return {state.spare.data() + begin, size()}; }
};

}  // namespace graphtv

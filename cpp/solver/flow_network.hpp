// The graph as a flow network: every edge is a pair of arcs with residual capacities ω - x and
// ω + x, where x = ω p is the flow from tail to head.
//
// A cut edge is saturated from its high to its low side and closed both ways until it is opened
// again. It is kept by the sign bit: both residuals are negative then (the saturated one is -0.0),
// so that no test `residual > tolerance` lets flow through, and nothing is forgotten.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

using ArcIndex = std::uint32_t;  // 2m arcs for m < 2^31 edges

struct Arc {
    Vertex to;
    ArcIndex reverse;
    double residual;

    bool closed() const { return std::signbit(residual); }
};

class FlowNetwork {
  public:
    // Vertices are numbered anew by breadth-first search where neighbours lie far apart. Throws
    // Expired when the watch does.
    FlowNetwork(const EdgeList& graph, std::span<const double> weights, Watch& watch);

    Vertex n_vertices() const { return static_cast<Vertex>(first_.size() - 1); }
    EdgeIndex n_edges() const { return static_cast<EdgeIndex>(arc_of_edge_.size()); }
    ArcIndex n_arcs() const { return static_cast<ArcIndex>(arcs_.size()); }

    // The caller's name of vertex v of the network.
    Vertex original(Vertex v) const {
        return original_.empty() ? v : original_[static_cast<std::size_t>(v)];
    }

    bool is_renumbered() const { return !original_.empty(); }

    Arc& operator[](ArcIndex a) { return arcs_[a]; }
    const Arc& operator[](ArcIndex a) const { return arcs_[a]; }
    ArcIndex begin(Vertex v) const { return first_[static_cast<std::size_t>(v)]; }
    ArcIndex end(Vertex v) const { return first_[static_cast<std::size_t>(v) + 1]; }
    Arc& reverse(ArcIndex a) { return arcs_[arcs_[a].reverse]; }

    void push(ArcIndex a, double amount) {
        arcs_[a].residual -= amount;
        reverse(a).residual += amount;
    }

    // Saturates arc a, from high to low, and closes its edge. Returns what had to be pushed.
    double cut(ArcIndex a) {
        const double rest = arcs_[a].residual;
        Arc& back = reverse(a);
        back.residual = -(back.residual + rest);
        arcs_[a].residual = -0.0;
        return rest;
    }
    // Opens a cut edge, flow kept.
    void open(ArcIndex a) {
        Arc& back = reverse(a);
        arcs_[a].residual = std::abs(arcs_[a].residual);
        back.residual = std::abs(back.residual);
    }
    void open_all();

    // Remembers the flow of the arcs of v, in single precision: it is a place to start from.
    void remember(Vertex v);
    // What would flow out of v if its open arcs went back to that flow.
    double remembered_outflow(Vertex v) const;
    // Goes back to it on the open edges from v to vertices of higher number.
    void restore(Vertex v);

    // No flow at all on the open edges of v.
    void calm(Vertex v);

    // Takes over the flow x by edge, clipped to |x| ≤ min(ω, bound), and remembers it; every edge is
    // open. `outflow` by vertex of the network is filled with Kᵀp. False if the watch expired.
    bool load(std::span<const double> x, double bound, std::span<double> outflow, Watch& watch);
    // The flow by edge; exactly ±ω on cut edges of weight ω ≤ bound.
    void store(std::span<double> x, int n_threads) const;

    // (Kᵀp)_v, what flows out of v, and the part of it over cut edges; compensated sums.
    struct Outflows {
        double total, cut;
    };
    Outflows outflows(Vertex v) const;

    std::size_t n_bytes() const;

  private:
    // The flow along an arc; exactly half the other's residual if it is cut and saturated.
    double flow(const Arc& arc) const {
        return 0.5 * (std::abs(arcs_[arc.reverse].residual) - std::abs(arc.residual));
    }
    void build(const EdgeList& graph, std::span<const Vertex> name, Watch& watch);

    std::span<const double> weights_;  // the caller's
    double bound_ = 0.0;
    std::vector<ArcIndex> first_;        // by vertex
    std::vector<Arc> arcs_;              // by vertex
    std::vector<float> memory_;          // by arc: a flow to go back to
    std::vector<ArcIndex> arc_of_edge_;  // at the tail
    std::vector<Vertex> original_;       // empty: the caller's numbers
};

}  // namespace graphtv

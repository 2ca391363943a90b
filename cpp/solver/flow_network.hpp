// The graph as a flow network. The flow along edge e from tail to head is x = ω p, and what an arc
// can still carry is ω (1 - p) one way and ω (1 + p) the other. Only p is kept, in the caller's own
// array: the weights are the caller's too, and a vertex knows its neighbours by name and edge. That
// is 2 doubles per edge beside p, and a search that asks "is there room?" need not look up ω.
//
// A cut edge is saturated from its high to its low side and closed both ways until it is opened
// again. Its p is then not a number, with the sign of the flow, so that no test `room > least`
// lets flow through, and nothing is forgotten. Edges without weight are closed for good.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

// One direction of an edge: 2e from tail to head, 2e + 1 back. 2m < 2³² for m < 2³¹ edges.
using Arc = std::uint32_t;

constexpr Arc reverse(Arc a) { return a ^ 1U; }

// An arc as the vertex that it leaves sees it.
struct OutArc {
    Vertex to;
    Arc arc;
};

class FlowNetwork {
  public:
    // Rounding leaves less room than this on an arc that is saturated.
    static constexpr double least_room = 4.0 * std::numeric_limits<double>::epsilon();

    // Vertices are numbered anew by breadth-first search where neighbours lie far apart. Throws
    // Expired when the watch does.
    FlowNetwork(const EdgeList& graph, std::span<const double> weights, Watch& watch);

    Vertex n_vertices() const { return static_cast<Vertex>(first_.size() - 1); }
    EdgeIndex n_edges() const { return static_cast<EdgeIndex>(weights_.size()); }

    // The caller's name of vertex v of the network.
    Vertex original(Vertex v) const {
        return original_.empty() ? v : original_[static_cast<std::size_t>(v)];
    }

    bool is_renumbered() const { return !original_.empty(); }

    // The arcs that leave v.
    std::span<const OutArc> operator[](Vertex v) const {
        const auto i = static_cast<std::size_t>(v);
        return {out_.data() + first_[i], out_.data() + first_[i + 1]};
    }

    // The part of its capacity that an arc can still carry, 0 … 2; not a number if it is closed.
    double room(Arc a) const { return 1.0 - along(a); }
    bool has_room(Arc a) const { return room(a) > least_room; }
    bool is_closed(Arc a) const { return std::isnan(p_[a >> 1]); }
    // Of a closed arc: whether it leaves the high side.
    bool is_saturated(Arc a) const { return !std::signbit(along(a)); }

    double capacity(Arc a) const { return std::min(weights_[a >> 1], bound_); }
    double residual(Arc a) const { return capacity(a) * room(a); }

    void push(Arc a, double amount) {
        const double part = amount / capacity(a);
        double& p = p_[a >> 1];
        p = std::clamp(p + ((a & 1U) == 0 ? part : -part), -1.0, 1.0);
    }

    // Saturates arc a, from high to low, and closes its edge. Returns what had to be pushed.
    double cut(Arc a) {
        const double rest = residual(a);
        const double closed = std::numeric_limits<double>::quiet_NaN();
        p_[a >> 1] = std::copysign(closed, (a & 1U) == 0 ? 1.0 : -1.0);
        return rest;
    }
    // Opens a cut edge, flow kept.
    void open(Arc a) { p_[a >> 1] = opened(p_[a >> 1]); }
    void open_all();

    // What would flow out of v if its open arcs went back to the flow of the start.
    double remembered_outflow(Vertex v) const;
    // Goes back to it on the open edges from v to vertices of higher number.
    void restore(Vertex v);

    // No flow at all on the open edges of v.
    void calm(Vertex v);

    // Takes over p by edge, whose memory is used until it is handed back, and remembers it, to some
    // digits; every edge is open. Weights beyond `bound` count as that. `outflow` by vertex of the
    // network is filled with Kᵀp. False if the watch expired: p is handed back then.
    bool take(std::span<double> p, double bound, std::span<double> outflow, Watch& watch);
    // Gives p back: what it has become, exactly ±1 on cut edges of weight ω ≤ bound, or what was
    // remembered.
    void hand_back(int n_threads);
    void hand_back_start(int n_threads);

    // (Kᵀp)_v, what flows out of v, and the part of it over cut edges; compensated sums.
    struct Outflows {
        double total, cut;
    };
    Outflows outflows(Vertex v) const;

    std::size_t n_bytes() const;

  private:
    // The start in 16 bits: ±1 comes back as it was.
    using Memory = std::int16_t;
    static constexpr double memory_scale = 32767.0;
    static Memory remembered(double p) {
        constexpr double nearly = 1.0 - 1e-6;  // as good as saturated
        if (std::abs(p) < nearly) return static_cast<Memory>(std::lrint(p * (memory_scale - 1.0)));
        return p > 0.0 ? Memory{32767} : Memory{-32767};
    }
    static double recalled(Memory p) {
        if (p == 32767 || p == -32767) return p > 0 ? 1.0 : -1.0;
        return static_cast<double>(p) / (memory_scale - 1.0);
    }
    static double opened(double p) { return std::isnan(p) ? std::copysign(1.0, p) : p; }
    static double signed_by(Arc a, double p) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) ^
                                     (static_cast<std::uint64_t>(a) << 63));
    }
    // p in the direction of the arc.
    double along(Arc a) const { return signed_by(a, p_[a >> 1]); }
    double flow(Arc a) const { return capacity(a) * signed_by(a, opened(p_[a >> 1])); }
    void build(const EdgeList& graph, std::span<const Vertex> name, Watch& watch);
    template <class Value>
    void give_back(int n_threads, const Value& value);

    std::span<const double> weights_;  // the caller's, and so is
    std::span<double> p_;              // the memory of p
    double bound_ = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> first_;  // by vertex
    std::vector<OutArc> out_;           // by vertex
    std::vector<Memory> memory_;        // by edge: p at the start
    std::vector<Vertex> original_;      // empty: the caller's numbers
};

}  // namespace graphtv

// The graph as a flow network whose edges carry flow in both directions. The flow along edge e from
// tail to head is x = ω p, and an arc can still carry ω - x in one direction and ω + x in the other.
// Only x is stored, in the caller's array; the weights also belong to the caller. A vertex stores
// its neighbours by number and edge. This takes 2 doubles per edge in addition to x, and a quarter
// of a double for the start.
//
// A cut edge is saturated from its high to its low side and closed in both directions until it is
// opened again. Its x is then NaN with the sign of the flow. No test `residual > tolerance` lets
// flow through, and no information is lost.
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
#include "tv/rounded.hpp"

namespace graphtv {

// One direction of an edge: 2e from tail to head, 2e + 1 back. 2m < 2³² for m < 2³¹ edges.
using Arc = std::uint32_t;

constexpr Arc reverse(Arc a) { return a ^ 1U; }

// An arc, seen from the vertex that it leaves.
struct OutArc {
    Vertex to;
    Arc arc;
};

class UndirectedNetwork {
  public:
    // Vertices are renumbered by breadth-first search if neighbours lie far apart. Throws Expired
    // when the watch expires.
    UndirectedNetwork(const EdgeList& graph, std::span<const double> weights, Watch& watch);

    Vertex n_vertices() const { return static_cast<Vertex>(first_.size() - 1); }
    EdgeIndex n_edges() const { return static_cast<EdgeIndex>(weights_.size()); }

    // The caller's number of vertex v of the network.
    Vertex original(Vertex v) const {
        return original_.empty() ? v : original_[static_cast<std::size_t>(v)];
    }

    bool is_renumbered() const { return !original_.empty(); }

    // The arcs that leave v.
    std::span<const OutArc> operator[](Vertex v) const {
        const auto i = static_cast<std::size_t>(v);
        return {out_.data() + first_[i], out_.data() + first_[i + 1]};
    }

    // The residual capacity of an arc; NaN if it is closed.
    double residual(Arc a) const { return capacity(a) - along(a); }
    double capacity(Arc a) const { return std::min(weights_[a >> 1], bound_); }
    bool is_closed(Arc a) const { return std::isnan(x_[a >> 1]); }
    // For a closed arc: x if the arc leaves the high side, -x otherwise.
    double signed_as(Arc a, double x) const {
        constexpr std::uint64_t sign = std::uint64_t{1} << 63;
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^
                                     (std::bit_cast<std::uint64_t>(along(a)) & sign));
    }

    void push(Arc a, double amount) {
        const double w = capacity(a);
        double& x = x_[a >> 1];
        x = std::clamp(x + ((a & 1U) == 0 ? amount : -amount), -w, w);
    }

    // Saturates arc a, from high to low, and closes its edge. Returns the amount that had to be
    // pushed.
    double cut(Arc a) {
        const double rest = residual(a);
        const double closed = std::numeric_limits<double>::quiet_NaN();
        x_[a >> 1] = std::copysign(closed, (a & 1U) == 0 ? 1.0 : -1.0);
        return rest;
    }
    // Opens a cut edge and keeps its flow.
    void open(Arc a) { x_[a >> 1] = opened(std::size_t{a >> 1}); }
    void open_all();

    // The flow out of v if its open arcs returned to the starting flow.
    double remembered_outflow(Vertex v) const;
    // Restores the starting flow on the open edges from v to vertices of higher number.
    void restore(Vertex v);

    // Sets the flow on the open edges of v to zero.
    void calm(Vertex v);

    // Takes over the flow x by edge, clipped to |x| ≤ min(ω, bound). Uses the memory of x until it
    // is handed back. Every edge is open. `start` is x/ω in reduced precision and is borrowed for
    // the same time; without it the start cannot be restored. Fills `outflow`, by vertex of the
    // network, with Kᵀp. Returns false if the watch expired; x has then been handed back.
    bool take(std::span<double> x, std::span<const Rounded> start, double bound,
              std::span<double> outflow, Watch& watch);
    // Hands x back: the current flow, which is exactly ±ω on cut edges of weight ω ≤ bound, or the
    // starting flow.
    void hand_back(int n_threads);
    void hand_back_start(int n_threads);

    double weight(std::size_t e) const { return weights_[e]; }

    // (Kᵀp)_v, the flow out of v, and its part over cut edges, by compensated summation.
    struct Outflows {
        double total, cut;
    };
    Outflows outflows(Vertex v) const;

    std::size_t n_bytes() const;

  private:
    double recalled(std::size_t e) const {
        return std::min(weights_[e], bound_) * value_of(start_[e]);
    }
    double opened(std::size_t e) const {
        const double x = x_[e];
        return std::isnan(x) ? std::copysign(std::min(weights_[e], bound_), x) : x;
    }
    static double signed_by(Arc a, double x) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^
                                     (static_cast<std::uint64_t>(a) << 63));
    }
    // x in the direction of the arc; NaN if it is closed.
    double along(Arc a) const { return signed_by(a, x_[a >> 1]); }
    double flow(Arc a) const { return signed_by(a, opened(std::size_t{a >> 1})); }
    void build(const EdgeList& graph, std::span<const Vertex> name, Watch& watch);
    template <class Value>
    void give_back(int n_threads, const Value& value);

    std::span<const double> weights_;  // the caller's, and so is
    std::span<double> x_;              // the memory of x, and
    std::span<const Rounded> start_;
    double bound_ = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> first_;  // by vertex
    std::vector<OutArc> out_;           // by vertex
    std::vector<Vertex> original_;      // empty: the caller's numbers
};

}  // namespace graphtv

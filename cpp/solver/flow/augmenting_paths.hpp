// Maximum flow from excess to deficit inside one component by augmenting paths:
// Y. Boykov and V. Kolmogorov, An experimental comparison of min-cut/max-flow algorithms for energy
// minimization in vision, PAMI 2004.
//
// Departure: there are no terminals. Every vertex with excess is a root of the source tree, and
// every vertex with a deficit is a root of the sink tree. Existing flow is kept. A search continues
// at the arc where it found its last path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/flow/flow_state.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

class AugmentingPaths {
  public:
    // balanced: no excess or no deficit is left. blocked: both are left, and `side` holds the
    // search trees: source (all vertices that excess can reach), sink (all that can reach a
    // deficit), free (the rest). exhausted: the paths had more than `most_arcs` arcs. expired: the
    // watch ended the search; the flow is feasible.
    enum class End { balanced, blocked, exhausted, expired };
    End run(FlowState& state, const Component& component, std::int64_t most_arcs,
            WorkBudget& budget);

    std::int64_t n_paths = 0, path_arcs = 0;

  private:
    void activate(Vertex v);
    Vertex next_active();
    void start(const Component& component);
    bool grow(Vertex v, WorkBudget& budget);
    void augment(Vertex v, Arc bridge, Vertex w);
    template <Side side>
    void adopt(Vertex v);
    std::uint32_t distance_to_root(Vertex v);
    void orphan(Vertex v);
    bool lags_behind(double allowed, double left) const;
    bool has_room(Arc a) const { return state_->network.residual(a) > capacity_tolerance_; }

    FlowState* state_ = nullptr;
    double tolerance_ = 0.0, capacity_tolerance_ = 0.0;
    double excess_ = 0.0, deficit_ = 0.0;  // at the start
    double sent_ = 0.0;                    // amount sent since then
    std::uint32_t time_ = 0;
    std::size_t n_sources_ = 0, n_sinks_ = 0;  // roots
    // A ring buffer of the vertices to search from. Each vertex is in it at most once.
    std::span<Vertex> queue_;
    std::size_t first_active_ = 0, n_active_ = 0;
    std::vector<Vertex> orphans_;
    std::size_t next_orphan_ = 0;
};

}  // namespace graphtv

// The exact finish: from a flow near the optimum to an exact minimiser of
//
//     Σ_i G_i(u_i) + Σ_e ω_e |u_i - u_j|,
//
// one channel, by warm-started maximum flows.
//
// u and a flow x, |x_e| ≤ ω_e, are optimal if the flow out of every vertex i is in -∂G_i(u_i), and if
// x_e = ω_e from high to low wherever u jumps. So u is constant on components between which the
// edges are saturated ("cut"), and the value of a component C is the root m of Σ_{i∈C} G_i'(m) +
// (flow out of C over cut edges) = 0. Given the cut edges, the remaining problem is a maximum flow
// inside each component, from the vertices with excess e_i = -G_i'(m) - (Kᵀp)_i > 0 to those with
// e_i < 0. If all excess arrives, the component is final. If not, the minimum cuts next to the
// sources and next to the sinks split it into three parts, of which the middle one is final. This
// is the divide-and-conquer of
//   D. S. Hochbaum, An efficient algorithm for image segmentation, Markov random fields and related
//   problems, Journal of the ACM 48, 2001, and
//   A. Chambolle and J. Darbon, On total variation minimization and surface evolution using
//   parametric maximum flows, IJCV 84, 2009.
// Departures: the flow is never discarded. The cut edges are guessed from the start, and a wrong
// guess (the low side ends up above the high side) is opened again. If this takes too many rounds,
// all edges are opened and the plain scheme, which needs no guess, runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/flow/component_solver.hpp"
#include "solver/flow/flow_state.hpp"
#include "terms/data_term.hpp"

namespace graphtv {

struct ExactFinishStats {
    std::int64_t rounds = 0;      // each solves flows and then checks the cut edges
    std::int64_t components = 0;  // solved components, including parts
    std::int64_t splits = 0, merges = 0;
    std::int64_t paths = 0, path_arcs = 0, level_pushes = 0;
    double work = 0.0;      // scanned arcs, approximately
    bool fallback = false;  // the guessed cuts were abandoned
};

class ExactFinish {
  public:
    // stalled: rounding errors prevented an exact end; the certificate shows how far.
    enum class End { exact, stalled, expired, exhausted };

    // `weights` must outlive the object. Throws Expired when the watch expires.
    ExactFinish(const EdgeList& graph, std::span<const double> weights, Watch& watch);

    // p by edge, |p| ≤ 1: the start on entry, the solution on return; its memory holds the flow in
    // between. u by vertex on return. If the run is ended early, u is unchanged and p is the
    // rounded start. The caller may pass this rounded start if it already has it. `allowance`
    // limits the work per component, in scanned arcs per vertex (counting its own vertices plus a
    // quarter of all). If it is exhausted, the start was too far from the optimum.
    End solve(const SlopedTerm& term, std::size_t channel, std::span<double> p, std::span<double> u,
              Watch& watch, int n_threads,
              double allowance = std::numeric_limits<double>::infinity(),
              std::span<const Rounded> start = {});

    int most_guesses = 60;  // rounds before the guessed cuts are abandoned

    std::size_t n_vertices() const { return state_.n(); }
    std::size_t n_edges() const { return static_cast<std::size_t>(state_.network.n_edges()); }
    const ExactFinishStats& stats() const { return stats_; }
    std::size_t n_bytes() const;

    // The share of the vertices whose component is final in this round. Only the thread that called
    // `solve` may ask, from its watch.
    double settled() const;

  private:
    std::size_t n_components() const { return borders_.size() - 1; }
    Component component(std::size_t i) const {
        return {static_cast<std::size_t>(borders_[i]), static_cast<std::size_t>(borders_[i + 1])};
    }
    bool load(FlowTask& task, std::span<double> p, std::span<const Rounded> start, Watch& watch);
    bool guess_cuts(FlowTask& task, WorkBudget& budget);
    bool is_dirty() const { return all_dirty_ || !dirty_.empty(); }
    void mark_all();
    bool gather_dirty(WorkBudget& budget);
    bool solve_dirty(FlowTask& task, std::vector<ComponentSolver>& solvers, int n_threads,
                     WorkBudget& budget);
    bool open_flips(double tolerance, WorkBudget& budget);
    bool run_rounds(FlowTask& task, std::vector<ComponentSolver>& solvers, int n_threads,
                    WorkBudget& budget);
    double settled_value(const FlowTask& task, const Component& component, double slope);
    bool asks_for_no_flow(const FlowTask& task, std::span<const Vertex> vertices, double m,
                          double noise) const;
    bool settle(FlowTask& task, WorkBudget& budget);
    void hand_over(std::span<double> x, int n_threads) const;

    FlowState state_;
    std::vector<double> u_;        // by vertex of the network
    std::vector<Rounded> start_;   // by edge, unless the caller passes it
    std::vector<Vertex> dirty_;    // vertices of the components to be solved,
    bool all_dirty_ = false;       // or all of them
    std::vector<Vertex> borders_;  // of those components in FlowState::order
    ExactFinishStats stats_;
    std::size_t n_open_ = 0;                    // vertices of this round's components
    std::atomic<std::size_t> n_settled_ = 0;    // of them, in components that are solved
    const ComponentSolver* callers_ = nullptr;  // the solver on the thread of the caller
    double largest_weight_;
};

}  // namespace graphtv

// The exact finish: from a flow near the optimum to an exact minimiser of
//
//     Σ_i G_i(u_i) + Σ_e ω_e |u_i - u_j|,
//
// one channel, by warm-started maximum flows.
//
// u and a flow x, |x_e| ≤ ω_e, are optimal if -G_i'(u_i) is what flows out of every vertex i, and
// if x_e = ω_e from high to low wherever u jumps. So u is constant on components between which the
// edges are saturated ("cut"), and the value of a component C is the root m of
// Σ_{i∈C} G_i'(m) + (what flows out of C over cut edges) = 0. Given the cut edges, what is left is a
// maximum flow inside each component, from the vertices with excess e_i = -G_i'(m) - (Kᵀp)_i > 0 to
// those with e_i < 0. If all excess arrives, the component is done. If not, the minimum cuts next to
// the sources and next to the sinks split it in three, of which the middle part is done: the
// divide-and-conquer of
//   D. S. Hochbaum, An efficient algorithm for image segmentation, Markov random fields and related
//   problems, Journal of the ACM 48, 2001, and
//   A. Chambolle and J. Darbon, On total variation minimization and surface evolution using
//   parametric maximum flows, IJCV 84, 2009.
// Departures: the flow is never thrown away; the cut edges are guessed from the start, and a guess
// that proves wrong (the low side ends up above the high side) is opened again. If that goes on for
// too long, all edges are opened and the plain scheme, which needs no guess, runs.
#pragma once

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
    std::int64_t rounds = 0;      // of flows, then a look at the cut edges
    std::int64_t components = 0;  // solved, parts among them
    std::int64_t splits = 0, merges = 0;
    std::int64_t paths = 0, path_arcs = 0, level_pushes = 0;
    double work = 0.0;      // arcs looked at, roughly
    bool fallback = false;  // the guessed cuts were given up
};

class ExactFinish {
  public:
    // stalled: rounding stood in the way; the certificate tells how far.
    enum class End { exact, stalled, expired, exhausted };

    // `weights` must outlive the object. Throws Expired when the watch does.
    ExactFinish(const EdgeList& graph, std::span<const double> weights, Watch& watch);

    // p by edge, |p| ≤ 1: the start on entry, the answer on return; its memory holds the flow in
    // between. u by vertex on return. Ended early, u is left as it was, and p is the start rounded,
    // which the caller may have at hand, and lend.
    // `allowance` limits the work spent on a component, in arcs looked at per vertex (its own, and a
    // quarter of all for small ones): when it is exhausted, the start was too far away.
    End solve(const SmoothTerm& term, std::size_t channel, std::span<double> p, std::span<double> u,
              Watch& watch, int n_threads,
              double allowance = std::numeric_limits<double>::infinity(),
              std::span<const Rounded> start = {});

    int most_guesses = 60;  // rounds before the guessed cuts are given up

    std::size_t n_vertices() const { return state_.n(); }
    std::size_t n_edges() const { return static_cast<std::size_t>(state_.network.n_edges()); }
    const ExactFinishStats& stats() const { return stats_; }
    std::size_t n_bytes() const;

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
    std::vector<Rounded> start_;   // by edge, unless it is lent
    std::vector<Vertex> dirty_;    // vertices of components to be solved,
    bool all_dirty_ = false;       // or all of them
    std::vector<Vertex> borders_;  // of those components in FlowState::order
    ExactFinishStats stats_;
    double largest_weight_;
};

}  // namespace graphtv

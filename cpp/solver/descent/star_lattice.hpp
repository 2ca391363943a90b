// Accelerated descent over the stars of a grid, or over its edges with coupled channels, in an order
// that vectorises.
//
//     max_x  -½ ‖g - ∇ᵀx‖²,   ‖x_s‖ ≤ capacity_s for every star s
//
// The star of a vertex consists of its edges in forward direction. On a grid with d axes, the stars of
// every (d + 1)-th vertex of a line share no vertex and are updated at once, exactly (stars.hpp). One
// iteration goes through all stars, starting from an extrapolated flow y. The star of a vertex touches
// its own slab and the next one. So first the stars of every second slab are updated, then the others,
// and slabs can go through several iterations while they are in the cache (slab_schedule.hpp).
//
// In single precision, the primal point is a smoothed mean of the iterates (star_primal.cpp).
//
// If blocks are edges instead, the ball of an edge is over its channels.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/staggered.hpp"
#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/lattice_layout.hpp"
#include "solver/descent/momentum.hpp"
#include "solver/descent/slab_schedule.hpp"
#include "solver/descent/stars.hpp"

namespace graphtv {

enum class Blocks { stars, edges };

template <class Real>
class StarLattice {
  public:
    // Restarts are decided after so many iterations.
    static constexpr int longest_step = SlabSchedule::longest;

    using Values = std::vector<Real, Staggered<Real>>;

    // The edges along one axis, each stored at the place of its lower end, channel after channel.
    struct Axis {
        Values x, y;
        Values exists;            // 1 or 0 by edge; empty if no edge is missing
        Values inverse_capacity;  // 1/ω by edge; by star with the first axis if blocks are stars
    };

    // Two or three axes, all longer than 1. All values are zero.
    StarLattice(std::span<const Vertex> shape, std::size_t n_channels, Blocks blocks,
                bool has_gaps);

    const LatticeLayout& layout() const { return layout_; }
    std::size_t n_channels() const { return n_channels_; }
    std::vector<Axis>& axes() { return axes_; }  // the last one first
    const std::vector<Axis>& axes() const { return axes_; }
    Values& inverse_capacity(std::size_t axis) {
        return axes_[blocks_ == Blocks::stars ? 0 : axis].inverse_capacity;
    }
    const Values& inverse_capacity(std::size_t axis) const {
        return axes_[blocks_ == Blocks::stars ? 0 : axis].inverse_capacity;
    }
    std::span<Real> g() { return g_; }

    // Continues from the current x without momentum.
    void restart(int n_threads);

    // Runs at most `at_most` iterations and returns their number. Returns 0 if the watch expired;
    // the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most);

    // The dual objective at x, and the primal objective at u = g - ∇ᵀx or at `smooth_point`, in the
    // precision of Real.
    double dual_value(int n_threads);
    double primal_value(int n_threads);

    // The point of the last primal value, with one channel after another. It is empty if that is u,
    // or if the descent has moved on.
    std::span<const Real> smooth_point() const {
        return std::span<const Real>(smooth_).first(is_smooth_ ? smooth_.size() : 0);
    }

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    // Blocks at consecutive places, with the same axes.
    struct Run {
        std::size_t place, size;
        int n_axes;
        std::array<std::size_t, most_axes> axis, end;  // and the places of the other ends
    };

    std::size_t start(int slab) const { return static_cast<std::size_t>(slab) * slab_; }
    template <class Body>
    void for_each_run(int slab, const Body& body) const;
    Stars<Real> stars(const Run& run, Values& u);
    void sweep(int slab, Real beta);
    void close(int seam, Real beta);
    void settle(int n_threads);
    void apply(Values Axis::* flow, int slab, Values& out) const;
    void recompute(int n_threads);
    void forget_momentum();
    void take_mean();
    double objective(Values& u);
    void diffuse(Values& u, Real width);

    LatticeLayout layout_;
    std::size_t n_channels_;
    Blocks blocks_;
    std::size_t slab_;  // vertices that share their first coordinate
    int n_slabs_;
    std::vector<Axis> axes_;
    Values g_;      // by place, channel after channel, like all arrays below
    Values u_, r_;  // g - ∇ᵀx and g - ∇ᵀy
    Values mean_, smooth_;  // see star_primal.cpp; empty in double precision
    int n_means_ = 0;       // steps since the last restart
    bool is_smooth_ = false;
    double total_capacity_ = 0.0;  // Σ ω, or 0 if it is not known yet
    Momentum momentum_;
    int drift_ = 0;  // iterations since u and r were recomputed
    // True at first and after the watch ended a step: u and r are inconsistent with x and y.
    bool is_torn_ = true;
};

// Calls body(run) for the blocks of a slab: line by line, phase by phase.
template <class Real>
template <class Body>
void StarLattice<Real>::for_each_run(int slab, const Body& body) const {
    const std::size_t begin = start(slab), end = begin + slab_, width = layout_.width();
    const std::size_t n_phases = layout_.n_phases();
    for (std::size_t line = begin; line < end; line += width) {
        Run across{line, width, 0, {}, {}};  // along all axes but the last
        for (std::size_t a = 1; a < layout_.n_axes(); ++a) {
            const std::size_t stride = layout_.stride(a);
            if (line / stride % layout_.length(a) + 1 == layout_.length(a)) continue;
            const auto k = static_cast<std::size_t>(across.n_axes++);
            across.axis[k] = a;
            across.end[k] = line + stride;
        }
        const auto n_across = static_cast<std::size_t>(across.n_axes);
        for (std::size_t phase = 0; phase < n_phases; ++phase) {
            const std::size_t from = layout_.offset(phase);
            const std::size_t size = layout_.offset(phase + 1) - from;
            const bool has_last = size > 0 && (width - 1) % n_phases == phase;
            const std::size_t next = phase + 1 < n_phases ? layout_.offset(phase + 1) : 1;
            Run run{line + from, size - (has_last ? 1 : 0), 1, {0}, {line + next}};
            if (blocks_ == Blocks::stars) {
                run.n_axes += across.n_axes;
                for (std::size_t k = 0; k < n_across; ++k) {
                    run.axis[k + 1] = across.axis[k];
                    run.end[k + 1] = across.end[k] + from;
                }
            }
            if (run.size > 0) body(run);
            if (has_last && n_across > 0 && blocks_ == Blocks::stars) {
                Run last{run.place + run.size, 1, across.n_axes, across.axis, across.end};
                for (std::size_t k = 0; k < n_across; ++k) last.end[k] += from + run.size;
                body(last);
            }
        }
        if (blocks_ == Blocks::edges)
            for (std::size_t k = 0; k < n_across; ++k)
                body(Run{line, width, 1, {across.axis[k]}, {across.end[k]}});
    }
}

}  // namespace graphtv

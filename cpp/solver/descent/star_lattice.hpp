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
// In single precision, the primal point is a smoothed mean of the iterates (smooth_mean.hpp).
//
// If blocks are edges instead, the ball of an edge is over its channels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/staggered.hpp"
#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/lattice_layout.hpp"
#include "solver/descent/momentum.hpp"
#include "solver/descent/slab_schedule.hpp"
#include "solver/descent/smooth_mean.hpp"
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
    std::span<const Real> smooth_point() const { return mean_.point(); }

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    std::size_t start(int slab) const { return static_cast<std::size_t>(slab) * slab_; }
    // A line of a slab along the last axis, and the place of its first vertex.
    struct Line {
        int slab;
        std::size_t row, place;
    };
    template <class Body>
    void for_each_line(int slab, const Body& body) const {
        const std::size_t width = layout_.width();
        for (std::size_t row = 0; row < slab_ / width; ++row)
            body(Line{slab, row, start(slab) + row * width});
    }
    template <class Body>  // body(k, axis) for the axes along which a line has neighbours
    void for_each_axis(const Line& line, const Body& body) const {
        const std::size_t last = layout_.n_axes() - 1;
        std::size_t k = 0;
        for (std::size_t axis = 0; axis <= last; ++axis)
            if (axis == 0 ||
                (axis < last ? line.row + 1 < layout_.length(axis) : line.slab + 1 < n_slabs_))
                body(k++, axis);
    }
    StarLine<Real> stars(const Line& line, Values& u);
    void sweep(int slab, Real beta);
    void close(int seam, Real beta);
    void settle(int n_threads);
    void apply(Values Axis::* flow, int slab, Values& out) const;
    void recompute(int n_threads);
    void forget_momentum();
    double objective(Values& u);
    void diffuse(Values& u, Real width);
    double sum_of_capacities();

    LatticeLayout layout_;
    std::size_t n_channels_;
    Blocks blocks_;
    std::size_t slab_;  // vertices that share their first coordinate
    int n_slabs_;
    std::vector<Axis> axes_;
    Values g_;      // by place, channel after channel, like all arrays below
    Values u_, r_;  // g - ∇ᵀx and g - ∇ᵀy
    SmoothMean<Values> mean_;
    double total_capacity_ = 0.0;  // Σ ω, or 0 if it is not known yet
    Momentum momentum_;
    int drift_ = 0;  // iterations since u and r were recomputed
    // True at first and after the watch ended a step: u and r are inconsistent with x and y.
    bool is_torn_ = true;
};

}  // namespace graphtv

// Accelerated descent over the edges of a grid, in an order that vectorises.
//
//     max_x  -½ ‖g - C⁻¹∇ᵀx‖²_C,   |x_e| ≤ capacity_e
//
// Along every axis, the edges that start at even coordinates form a matching, and so do those that
// start at odd ones. The edges of a matching share no vertex and can be updated at once. One
// iteration updates the two matchings of the last axis, then those of the axis before it, and so
// on. An edge depends only on the edges at its ends. Slabs of the grid can therefore go through
// several iterations while they are in the cache, and on several threads (slab_schedule.hpp).
//
// Single precision halves the memory traffic and doubles the number of vector lanes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/momentum.hpp"
#include "solver/descent/slab_schedule.hpp"

namespace graphtv {

class Lattice {
  public:
    // The number of iterations that a slab goes through at once. Restarts are decided after the
    // last one.
    static constexpr int longest_step = SlabSchedule::longest;

    // The edges along one axis, each stored at the place of its lower end. Flow is positive
    // upwards.
    struct Axis {
        std::size_t stride, length;
        std::vector<float> x, y, capacity;  // flow, its extrapolation, ω
    };

    // Every axis is longer than 1. Initially 1/c is one and all other values are zero.
    Lattice(std::span<const Vertex> shape, bool is_weighted);

    std::size_t n_vertices() const { return g_.size(); }
    std::size_t width() const { return width_; }  // of the last axis
    bool is_weighted() const { return !inverse_.empty(); }
    std::vector<Axis>& axes() { return axes_; }  // the last one first
    const std::vector<Axis>& axes() const { return axes_; }
    std::span<float> g() { return g_; }
    std::span<const float> g() const { return g_; }
    std::span<float> inverse() { return inverse_; }  // 1/c, or empty
    float weight(std::size_t i) const { return inverse_.empty() ? 1.0F : 1.0F / inverse_[i]; }

    // The place of a vertex, given the start of its line. Even columns come before odd ones, so
    // that both ends of a matching along the last axis are contiguous.
    std::size_t place(std::size_t line, std::size_t column) const {
        return line + (column % 2 == 0 ? 0 : n_even_) + column / 2;
    }

    // Continues from the current x without momentum.
    void restart(int n_threads);

    // Runs at most `at_most` iterations and returns their number. Returns 0 if the watch expired;
    // the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most);

    // The primal objective at u = g - C⁻¹∇ᵀx and the dual objective at x, in single precision.
    double primal_value(int n_threads);
    double dual_value(int n_threads);

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    const float* inverses() const { return inverse_.empty() ? nullptr : inverse_.data(); }
    std::size_t start(int slab) const { return static_cast<std::size_t>(slab) * slab_; }

    template <class Body>
    void for_each_matching(int slab, const Body& body) const;

    void sweep_pair(int pair, float beta);
    void close_seam(int seam, float beta);
    void sweep_slab(int slab, float beta);
    void match(std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n, float beta);
    void settle(int n_threads);
    void recompute(int n_threads);
    void apply(std::vector<float> Axis::* flow, int slab, std::vector<float>& out) const;
    void forget_momentum();

    std::size_t width_, n_even_;
    std::size_t slab_;       // vertices that share their first coordinate
    int n_slabs_, n_pairs_;  // the last pair may lack its second slab
    std::vector<Axis> axes_;
    std::vector<float> g_;      // by place, like all arrays below
    std::vector<float> u_, r_;  // g - C⁻¹∇ᵀx and g - C⁻¹∇ᵀy
    std::vector<float> inverse_;
    Momentum momentum_;
    int drift_ = 0;  // iterations since u and r were recomputed
    // True at first and after the watch ended a step: u and r are inconsistent with x and y.
    bool is_torn_ = true;
};

}  // namespace graphtv

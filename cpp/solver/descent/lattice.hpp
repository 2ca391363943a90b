// Accelerated descent over the edges of a grid, in an order that vectorises.
//
//     max_x  -½ ‖g - C⁻¹∇ᵀx‖²_C,   |x_e| ≤ capacity_e
//
// Along every axis the edges from even coordinates, and those from odd ones, are matchings: they share
// no vertex, and may all move at once. One iteration takes the two matchings of the last axis, then
// those of the one before it, and so on. Since an edge waits for nothing but the edges at its ends, slabs
// of the grid go through several iterations while they are in the cache, and on several threads; every
// schedule that respects the order gives the same bits.
//
// In single precision: half the memory to move, and twice the lanes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/momentum.hpp"

namespace graphtv {

class Lattice {
  public:
    // Iterations that a slab goes through at once; momentum is judged after the last of them.
    static constexpr int longest_step = 4;

    // The edges along one axis, each at the place of its lower end; flows go upwards.
    struct Axis {
        std::size_t stride, length;
        std::vector<float> x, y, capacity;  // flow, its extrapolation, ω
    };

    // Every axis is longer than 1. All is zero but 1/c, which is one.
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

    // Where the values of a vertex are, given where its line begins. Even columns come before odd ones,
    // which makes both ends of a matching along the last axis contiguous.
    std::size_t place(std::size_t line, std::size_t column) const {
        return line + (column % 2 == 0 ? 0 : n_even_) + column / 2;
    }

    // Goes on from x as it is, without momentum.
    void restart(int n_threads);

    // Some iterations, at most `at_most`; returns their number, 0 if the watch expired, which leaves a
    // feasible point.
    int step(Watch& watch, int n_threads, int at_most);

    // The objectives at u = g - C⁻¹∇ᵀx and at x, to single precision.
    double primal_value(int n_threads);
    double dual_value(int n_threads);

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    // Pairs of slabs to sweep in iteration t, [begin + left t, end + right t), with the seams between
    // them and those at their ends that no other trapezoid has.
    struct Trapezoid {
        int begin, end, left, right;

        bool sweeps(int pair, int t) const {
            return begin + left * t <= pair && pair < end + right * t;
        }
        bool closes(int seam, int t) const {
            return begin + left * t + (left > 0 ? 1 : 0) <= seam &&
                   seam < end + right * t + (right < 0 ? 0 : 1);
        }
    };

    const float* inverses() const { return inverse_.empty() ? nullptr : inverse_.data(); }
    std::size_t start(int slab) const { return static_cast<std::size_t>(slab) * slab_; }

    template <class Body>
    void for_each_matching(int slab, const Body& body) const;

    void run(const Trapezoid& part, std::span<const float> betas, Watch* watch,
             std::atomic<bool>& stop);
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
    std::vector<float> g_;      // by place, as all that follows
    std::vector<float> u_, r_;  // g - C⁻¹∇ᵀx and g - C⁻¹∇ᵀy
    std::vector<float> inverse_;
    Momentum momentum_;
    int drift_ = 0;  // iterations since u and r were computed anew
    bool is_torn_ =
        true;  // at first, and by the end of the watch: u and r do not belong to x and y
};

}  // namespace graphtv

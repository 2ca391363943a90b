// Descent over edges (see edge_descent.hpp) for grids: the same method, with the edges in an order that
// vectorises.
//
// Along every axis the edges from even coordinates, and those from odd ones, are matchings: they share
// no vertex, and may all move at once. One iteration takes the two matchings of the last axis, then
// those of the one before it, and so on. Since an edge waits for nothing but the edges at its ends, slabs
// of the grid go through several iterations while they are in the cache, and on several threads; every
// schedule that respects the order gives the same bits.
//
// This is a start for finer methods, and computes in single precision, in units of the data's range:
// half the memory to move, and twice the lanes. What it hands on, in double precision, is feasible.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/matching.hpp"
#include "solver/momentum.hpp"

namespace graphtv {

class LatticeDescent {
  public:
    // Iterations that a slab goes through at once; momentum is judged after the last of them.
    static constexpr int longest_step = 4;

    // The graph and all values are borrowed. Vertices are in row-major order and every axis is longer than
    // 1; edges join neighbours of the grid, in any order, and some may be missing. Vertex weights c are
    // positive, or empty for ones.
    LatticeDescent(std::span<const Vertex> shape, const EdgeList& graph,
                   std::span<const double> weights, std::span<const double> signal,
                   std::span<const double> vertex_weights);

    // Starts from a dual point, |p| ≤ 1; without this, from p = 0.
    void start_from(std::span<const double> p);

    // Some iterations, at most `at_most`; returns their number, 0 if the watch expired, which leaves a
    // feasible point.
    int step(Watch& watch, int n_threads, int at_most);

    // u = f - C⁻¹Kᵀp.
    void u(std::span<double> out) const;

    // p by edge, |p| ≤ 1.
    void dual(std::span<double> p, int n_threads = 1) const;

    // The objectives of both, to single precision.
    double primal_value();
    double dual_value();

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    // The edges along one axis, each at the place of its lower end.
    struct Axis {
        std::size_t stride;
        std::vector<float> x, y, capacity;  // flow, its extrapolation, ω
    };

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

    // Even columns come before odd ones, which makes both ends of a matching along the last axis
    // contiguous.
    std::size_t place(std::size_t line_start, std::size_t column) const {
        return line_start + (column % 2 == 0 ? 0 : n_even_) + column / 2;
    }
    std::size_t start(int slab) const { return static_cast<std::size_t>(slab) * slab_; }
    float inverse(std::size_t i) const { return inverse_.empty() ? 1.0F : inverse_[i]; }
    // Flows go upwards, p from tail to head.
    double sign(std::size_t e) const {
        return graph_.edges[e].tail < graph_.edges[e].head ? 1.0 : -1.0;
    }
    double ratio(std::size_t e, std::size_t axis, std::size_t lower) const;

    template <class Body>
    void for_each_edge(std::size_t first, std::size_t last, const Body& body) const;
    template <class Body>
    void for_each_edge(const Body& body) const;
    template <class Body>
    void for_each_vertex(const Body& body) const;
    template <class Body>
    void for_each_matching(int slab, const Body& body) const;
    template <class Value>
    double total(const Value& value) const;

    void run(const Trapezoid& part, std::span<const float> betas, Watch* watch,
             std::atomic<bool>& stop);
    void sweep_pair(int pair, float beta);
    void close_seam(int seam, float beta);
    void sweep_slab(int slab, float beta);
    void match(std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n, float beta);
    void recompute();
    void settle() {
        if (is_torn_) recompute();
    }
    void forget_momentum();

    EdgeList graph_;
    std::span<const double> weights_, f_, c_;
    std::size_t width_, n_even_;  // of the last axis
    std::size_t slab_;            // vertices that share their first coordinate
    int n_slabs_, n_pairs_;       // the last pair may lack its second slab
    double centre_ = 0.0;         // of f
    double range_ = 1.0;          // f = centre + range g
    double unit_ = 1.0;           // of flows: range · max c
    std::vector<Axis> axes_;      // the last one first
    std::vector<float> g_;        // by place, as all that follows
    std::vector<float> u_, r_;    // g - C⁻¹ ∇ᵀx and g - C⁻¹ ∇ᵀy
    std::vector<float> inverse_;  // 1/c, or empty
    Momentum momentum_;
    bool is_torn_ = false;  // by the end of the watch: u and r do not belong to x
};

}  // namespace graphtv

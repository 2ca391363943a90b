// Descent over edges (see edge_descent.hpp) for graphs in which the ends of all edges differ by one
// of a few offsets: images and volumes with diagonal neighbours, in row-major order.
//
// The edges (i, i + k) for one offset k form a family. Cut into blocks of k consecutive i, the edges
// of every second block form a matching whose lower and upper ends are contiguous in memory, and so
// do those of the other blocks. So the updates vectorise, and edges need no list of their ends. For
// offset 1, the edges of even i are a matching, and so are those of odd i. One iteration updates the
// families one after the other. An edge that is missing has the capacity 0.
//
// It computes in single precision, like LatticeDescent, in units of the range of the data. Its
// results are in double precision and feasible.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/momentum.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class StencilDescent {
  public:
    static constexpr int longest_step = 4;

    // Whether there are only a few offsets, each of which is 1 or large enough for vectors, and most
    // of the edges (i, i + k) exist.
    static bool applies(const EdgeList& graph);

    // The graph and all values are borrowed. Vertex weights c are positive, or empty for ones.
    // Starts from p = 0.
    StencilDescent(const EdgeList& graph, std::span<const double> weights,
                   std::span<const double> signal, std::span<const double> vertex_weights);

    // Starts from a dual point, |p| ≤ 1.
    void start_from(std::span<const double> p);

    // Runs at most `at_most` iterations and returns their number. Returns 0 if the watch expired;
    // the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most);

    // u = f - C⁻¹Kᵀp.
    void u(std::span<double> out) const;

    // p by edge, |p| ≤ 1.
    void dual(std::span<double> p, int n_threads = 1) const;
    void rounded_dual(std::span<Rounded> p, int n_threads = 1) const;

    // The primal and the dual objective, in single precision.
    double primal_value();
    double dual_value();

    double momentum() const { return momentum_.beta(); }
    bool restarted() const { return momentum_.restarted(); }

  private:
    // The edges of one offset, each stored at the place of its lower end. Flow is positive upwards.
    struct Family {
        std::size_t offset;
        std::vector<float> x, y, capacity;  // flow, its extrapolation, ω
    };

    std::size_t n() const { return g_.size(); }
    const float* inverses() const { return inverse_.empty() ? nullptr : inverse_.data(); }
    template <class Body>
    void for_each_edge(const Body& body) const;
    template <class Put>
    void for_each_ratio(const Put& put) const;
    void restart();
    void settle();
    void apply(std::vector<float> Family::* flow, std::vector<float>& out) const;
    bool sweep(float beta, Watch& watch);
    void forget_momentum();

    EdgeList graph_;
    std::span<const double> weights_, f_, c_;
    std::size_t n_even_;  // vertices with an even number
    double centre_;       // of f
    double range_;        // f = centre + range g
    double unit_;         // of flows: range · max c
    std::vector<Family> families_;
    std::vector<float> g_, u_, r_;  // f in units of the range, g - C⁻¹∇ᵀx and g - C⁻¹∇ᵀy
    std::vector<float> inverse_;    // 1/c, or empty
    Momentum momentum_;
    int drift_ = 0;  // iterations since u and r were recomputed
    // True at first and after the watch ended a step: u and r are inconsistent with x and y.
    bool is_torn_ = true;
};

}  // namespace graphtv

// Descent over edges (see edge_descent.hpp) for grids: the same method on a Lattice, whose order of
// edges vectorises. It can start from a solution on coarser grids.
//
// It provides a start for more accurate methods. It computes in single precision, in units of the
// range of the data. Its results are in double precision and feasible.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/lattice.hpp"
#include "solver/descent/lattice_layout.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class LatticeDescent {
  public:
    static constexpr int longest_step = Lattice::longest_step;

    // The graph and all values are borrowed. Vertices are in row-major order and every axis is
    // longer than 1. Edges join neighbours of the grid; they may be in any order, and some may be
    // missing. Vertex weights c are positive, or empty for ones. Starts from p = 0.
    LatticeDescent(std::span<const Vertex> shape, const EdgeList& graph,
                   std::span<const double> weights, std::span<const double> signal,
                   std::span<const double> vertex_weights);

    // Starts from a dual point, |p| ≤ 1.
    void start_from(std::span<const double> p);

    // Starts from a solution on coarser grids; false if the watch expired.
    bool start_from_coarse(Watch& watch, int n_threads);

    // Runs at most `at_most` iterations and returns their number. Returns 0 if the watch expired;
    // the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most) {
        return lattice_.step(watch, n_threads, at_most);
    }

    // u = f - C⁻¹Kᵀp.
    void u(std::span<double> out) const;

    // p by edge, |p| ≤ 1.
    void dual(std::span<double> p, int n_threads = 1) const;
    void rounded_dual(std::span<Rounded> p, int n_threads = 1) const;

    // The primal and the dual objective, in single precision.
    double primal_value() { return unit_ * range_ * lattice_.primal_value(1); }
    double dual_value() { return unit_ * range_ * lattice_.dual_value(1); }

    double momentum() const { return lattice_.momentum(); }
    bool restarted() const { return lattice_.restarted(); }

  private:
    using Run = LatticeLayout::Run;

    template <class Body>
    void for_each_ratio(const Run& run, const Body& body) const;

    EdgeList graph_;
    std::span<const double> weights_, f_, c_;
    LatticeLayout layout_;
    double centre_;  // of f
    double range_;   // f = centre + range g
    double unit_;    // of flows: range · max c
    Lattice lattice_;
};

}  // namespace graphtv

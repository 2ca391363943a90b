// Descent over the stars of a grid (star_lattice.hpp) for isotropic total variation with the squared
// loss, or over its edges for coupled channels. It computes in units of the range of the data.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/descent/lattice_layout.hpp"
#include "solver/descent/star_lattice.hpp"

namespace graphtv {

template <class Real>
class StarDescent {
  public:
    // The graph and all values are borrowed. Vertices are in row-major order and every axis is
    // longer than 1. Edges join neighbours of the grid; they may be in any order, and some may be
    // missing. If blocks are stars, the edges of a star have the same weight. The signal has one
    // channel after another. Starts from p = 0.
    StarDescent(std::span<const Vertex> shape, const EdgeList& graph,
                std::span<const double> weights, std::span<const double> signal, Blocks blocks);

    // Starts from a feasible dual point.
    void start_from(std::span<const double> p);

    // Runs at most `at_most` iterations and returns their number. Returns 0 if the watch expired;
    // the point is then feasible.
    int step(Watch& watch, int n_threads, int at_most) {
        return lattice_.step(watch, n_threads, at_most);
    }

    // u = f - Kᵀp; in single precision the point of the last primal value, until the next step.
    void u(std::span<double> out) const;

    // p by edge, feasible to the precision of Real.
    void dual(std::span<double> p, int n_threads = 1) const;

    // The primal and the dual objective, in the precision of Real.
    double primal_value() { return range_ * range_ * lattice_.primal_value(1); }
    double dual_value() { return range_ * range_ * lattice_.dual_value(1); }

    double momentum() const { return lattice_.momentum(); }
    bool restarted() const { return lattice_.restarted(); }

  private:
    using Run = LatticeLayout::Run;

    // Calls body(k, upward flow) for the edges of a run in a channel.
    template <class Body>
    void for_each_flow(const Run& run, std::size_t channel, const Body& body) const;
    const LatticeLayout& layout() const { return lattice_.layout(); }

    EdgeList graph_;
    std::span<const double> weights_, f_;
    std::vector<double> centres_;  // of the channels of f
    double range_ = 0.0;           // f = centre + range g
    StarLattice<Real> lattice_;
};

}  // namespace graphtv

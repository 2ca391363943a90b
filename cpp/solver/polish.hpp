// Primal polish: the exact primal point for the pattern of a dual point.
//
// At a saddle point of total variation, an edge with |p_e| < 1 has equal ends, and across the other
// edges u does not rise against the sign of p. The polish therefore fuses the vertices along edges
// with |p_e| < 1 - slack, and gives every component C the minimiser of Σ_{i ∈ C} G_i(m) + m Σ_cut
// ±ω_e. If two neighbouring components end up in the wrong order, it fuses them, too, and repeats.
// Once the pattern is correct, the result is the solution to the last bits, while an iterate is
// still converging. The result is a guess: the caller keeps it only if it lowers the certified gap.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"
#include "graph/union_find.hpp"
#include "parallel/watch.hpp"
#include "terms/data_term.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

class Polish {
  public:
    // All arguments are borrowed.
    Polish(const SeparableTerm& term, const EdgeList& graph, std::span<const double> weights)
        : term_(term), graph_(graph), weights_(weights) {}

    // Computes u by vertex and channel from p by edge and channel, which may be rounded. Returns
    // false if the watch expired; u is then undefined.
    template <class Real>
    bool run(std::span<const Real> p, double slack, std::span<double> u, Watch& watch);

    static constexpr int max_rounds = 8;

  private:
    template <class Real>
    bool run_channel(std::size_t channel, std::span<const Real> p, double slack,
                     std::span<double> u, Watch& watch);
    bool gather_components(UnionFind& sets, Watch& watch);

    const SeparableTerm& term_;
    EdgeList graph_;
    std::span<const double> weights_;
    std::vector<Vertex> label_;     // component of each vertex
    std::vector<Vertex> begin_;     // components as ranges of vertices_
    std::vector<Vertex> vertices_;  // component after component
    std::vector<bool> is_cut_;      // by edge: whether it joins two components
    std::vector<double> slope_, value_;
};

extern template bool Polish::run(std::span<const double>, double, std::span<double>, Watch&);
extern template bool Polish::run(std::span<const Rounded>, double, std::span<double>, Watch&);

}  // namespace graphtv

// The parts of the dual objective -G*(-Kᵀp) - F*(p) that depend on the graph: -Kᵀp, and dual points
// in less memory. Arrays by edge and by vertex hold one channel after another. G is in
// terms/data_term.hpp, F in terms/penalty.hpp.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "terms/data_term.hpp"
#include "terms/penalty.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

// |p| ≤ 1 in a quarter of the memory.
void round_dual(std::span<const double> p, std::span<Rounded> out, int n_threads);

// out = scale · Kᵀp. Threads share the channels, or the vertices of a single channel.
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
             double scale, std::span<double> out, int n_threads);
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
             double scale, std::span<double> out, int n_threads);

// s = -Kᵀp, and a bound on the rounding error of every sum, in the units that `certify` expects.
void slope(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
           std::span<double> s, std::span<double> errors, int n_threads);
void slope(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
           std::span<double> s, std::span<double> errors, int n_threads);

// Both objectives at (u, p), their gap, and bounds on the rounding errors. The computed primal and
// dual objective differ from their exact values by at most `rounding`. The exact gap is at most gap
// + gap_rounding.
struct Certificate {
    double primal, dual, gap;
    double rounding, gap_rounding;
};

// The gap is a sum over edges and vertices (terms/tally.hpp) and not the difference of the two
// objectives. Dual points may be rounded. s and its errors are the slope of p.
Certificate certify(const DataTerm& term, const EdgeList& graph, std::span<const double> weights,
                    const Penalty& penalty, std::span<const double> u, std::span<const double> p,
                    std::span<const double> s, std::span<const double> errors, int n_threads);
Certificate certify(const DataTerm& term, const EdgeList& graph, std::span<const double> weights,
                    const Penalty& penalty, std::span<const double> u, std::span<const Rounded> p,
                    std::span<const double> s, std::span<const double> errors, int n_threads);

}  // namespace graphtv

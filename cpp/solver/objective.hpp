// What the dual objective -G*(-Kᵀp) - F*(p) needs of the graph: -Kᵀp, and dual points in less memory. Arrays
// by edge hold channel after channel, like those by vertex. G is in terms/data_term.hpp, F in terms/penalty.hpp.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

// |p| ≤ 1 in a quarter of the memory.
void round_dual(std::span<const double> p, std::span<Rounded> out, int n_threads);

// out = scale · Kᵀp. Threads share the channels; the edges of a single one are summed in two halves.
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
             double scale, std::span<double> out, int n_threads);
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
             double scale, std::span<double> out, int n_threads);

}  // namespace graphtv

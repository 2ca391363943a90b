// The two sides of max_p min_u G(u) - F*(p) + ⟨Ku, p⟩ but for G, summed with compensation:
//
//     primal(u) = G(u) + F(Ku),     F(x) = Σ_e h(x_e),    dual(p) = -G*(-Kᵀp) - F*(p),
//
// with h = |·| for δ = 0 (total variation), and for δ > 0 Huber's relaxation: x²/(2δ) up to δ,
// |x| - δ/2 beyond. F*(p) = δ/2 ‖p‖² if every |p_e| ≤ 1, else infinite. Arrays by edge hold channel
// after channel, like those by vertex.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "tv/rounded.hpp"

namespace graphtv {

// F(Ku).
double penalty_value(const EdgeList& graph, std::span<const double> weights, double delta,
                     std::span<const double> u, int n_threads);

// F*(p); infinite also if some p is not a number. Dual points may be rounded.
double penalty_conjugate(double delta, std::span<const double> p, int n_threads);
double penalty_conjugate(double delta, std::span<const Rounded> p, int n_threads);

// |p| ≤ 1 in a quarter of the memory.
void round_dual(std::span<const double> p, std::span<Rounded> out, int n_threads);

// out = scale · Kᵀp. Threads share the channels; the edges of a single one are summed in two halves.
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
             double scale, std::span<double> out, int n_threads);
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
             double scale, std::span<double> out, int n_threads);

}  // namespace graphtv

// Kernels of the descent over edges with coupled channels: a sweep over the edges, and the
// extrapolation afterwards.
#pragma once

#include <cstddef>

#include "graph/types.hpp"

namespace graphtv {

// The channels of a vertex or an edge are side by side. Zeros fill up their place to `width`.
template <class Real>
struct CoupledEdges {
    const Edge* edges;
    const Real* capacity;
    const Real* inverse;  // 1/c by vertex, or null for ones
    Real *x, *y;          // the flow and its extrapolation
    Real* r;              // u of the extrapolated flow
    std::size_t n_edges, width;
};

// The width for a number of channels: two, or a multiple of four, which fill registers.
constexpr std::size_t coupled_width(std::size_t n_channels) {
    return n_channels <= 2 ? 2 : (n_channels + 3) / 4 * 4;
}

// How many stretches of the list of edges a sweep interleaves. Consecutive edges of a list mostly
// share a vertex, so each would wait for the previous one.
inline constexpr std::size_t n_stretches = 4;

// Moves the flows of edges [first, last) of every stretch from y to the maximum of their
// paraboloid, projected onto the ball, and extrapolates y by β. r follows. Returns ⟨y - x⁺, x⁺ - x⟩.
double move(const CoupledEdges<float>& edges, std::size_t first, std::size_t last, float beta);
double move(const CoupledEdges<double>& edges, std::size_t first, std::size_t last, double beta);

// The same for the edges after the last stretch.
double move_rest(const CoupledEdges<float>& edges, float beta);
double move_rest(const CoupledEdges<double>& edges, double beta);

// Called after all edges have moved, when r is the new u. Stores u, extrapolates r by β, and returns
// ½ Σ c u².
double extrapolate(const CoupledEdges<float>& edges, float* u, std::size_t n_vertices, float beta);
double extrapolate(const CoupledEdges<double>& edges, double* u, std::size_t n_vertices,
                   double beta);

// Σ ω ‖u_i - u_j‖ over the edges [first, last).
double variation(const CoupledEdges<float>& edges, const float* u, std::size_t first,
                 std::size_t last);
double variation(const CoupledEdges<double>& edges, const double* u, std::size_t first,
                 std::size_t last);

// One step of lagged diffusion: adds ω / √(‖u_i - u_j‖² + δ²) to the conductances of both ends of
// the edges [first, last), and their products with the u of the other ends to the numerators.
void diffuse(const CoupledEdges<float>& edges, const float* u, float width, std::size_t first,
             std::size_t last, float* numerators, float* conductances);
void diffuse(const CoupledEdges<double>& edges, const double* u, double width, std::size_t first,
             std::size_t last, double* numerators, double* conductances);

}  // namespace graphtv

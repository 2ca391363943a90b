// Kernels of the descent over edges with coupled channels: a sweep over the edges, and the
// extrapolation afterwards.
#pragma once

#include <cstddef>

#include "graph/types.hpp"

namespace graphtv {

// The channels of a vertex or an edge are side by side. Zeros fill up their place to `width`.
struct CoupledEdges {
    const Edge* edges;
    const double* capacity;
    const double* inverse;  // 1/c by vertex, or null for ones
    double *x, *y;          // the flow and its extrapolation
    double* r;              // u of the extrapolated flow
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
double move(const CoupledEdges& edges, std::size_t first, std::size_t last, double beta);

// The same for the edges after the last stretch.
double move_rest(const CoupledEdges& edges, double beta);

// Called after all edges have moved, when r is the new u. Stores u, extrapolates r by β, and returns
// ½ Σ c u².
double extrapolate(const CoupledEdges& edges, double* u, std::size_t n_vertices, double beta);

}  // namespace graphtv

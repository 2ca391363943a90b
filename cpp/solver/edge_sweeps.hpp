// A cheap flow to start from: coordinate ascent of the dual, edge by edge.
//
// For the squared loss the dual is max_x -½ Σ_i (c_i f_i - y_i)²/c_i + const over |x_e| ≤ ω_e, with y
// the outflow of x. Seen from one edge (i, j) it is a parabola with its top where the residuals
// r = f - y/c of the two ends agree: x_e moves by (r_i - r_j) / (1/c_i + 1/c_j), clipped. A few sweeps
// beat any descent over forests where the optimum's components are small: weak weights, kNN graphs.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "solver/watch.hpp"

namespace graphtv {

// Sweeps over all edges, forwards and backwards in turn, x updated in place; ends early, feasible,
// when the watch expires. `vertex_weights` has one number per vertex or one for all. Zero weights
// count as small ones: this is a start, not an answer.
void edge_sweeps(const EdgeList& graph, std::span<const double> weights,
                 std::span<const double> signal, std::span<const double> vertex_weights,
                 int n_sweeps, std::span<double> x, Watch& watch);

}  // namespace graphtv

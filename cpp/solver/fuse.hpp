// The polish for isotropic and coupled total variation with the squared loss.
//
// A group with ‖p_g‖ < 1 is flat at the optimum: u is constant along its edges. Where that holds on a
// part of the graph, its value is the mean of u = f - C⁻¹Kᵀp there, as flows within the part cancel.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "terms/group_norms.hpp"

namespace graphtv {

// Replaces u by its means over the parts joined by groups with ‖p_g‖ < 1 - slack. Vertex weights are
// the same in all channels, or empty for ones. Under `Watched`.
void fuse(const GroupNorms& penalty, const EdgeList& graph, std::span<const double> p, double slack,
          std::span<const double> vertex_weights, std::span<double> u);

}  // namespace graphtv

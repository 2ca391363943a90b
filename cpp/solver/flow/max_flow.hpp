// A maximum flow from excess to deficit on a whole graph, from a given flow on.
//
// The flow algorithms only add, subtract and compare. So where weights, flow and excess are multiples
// of a power of two, and less than 2^53 of it, not a bit is lost: with a tolerance of 0 the answer is
// exact. Afterwards no residual path leads from a vertex with excess to one with a deficit.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/flow/flow_state.hpp"

namespace graphtv {

// x: flow by edge, |x_e| ≤ ω_e, and excess by vertex (deficits are negative): on return what they
// have become. With travellers = excess, a deficit is only ever met: what is left of it is where it
// was. False if the watch expired; x is feasible still and agrees with the excess. Throws Expired if
// that was before there was a network.
bool max_flow(const EdgeList& graph, std::span<const double> weights, std::span<double> x,
              std::span<double> excess, double tolerance, Travellers travellers, Watch& watch);

}  // namespace graphtv

// Components: the parts of the graph that hang together by open edges.
#pragma once

#include <optional>

#include "solver/flow_state.hpp"
#include "solver/pulse.hpp"

namespace graphtv {

// Appends the component of `root`, a resting vertex, to FlowState::order at `begin` and returns its
// end. Its vertices are free then, in breadth-first order, with the arc to their parent.
// Edges nearly saturated either way join the tree only where no other does: less gets stuck in them.
// Nothing if the pulse ended it early.
std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            Pulse& pulse);

// Sends every traveller along the breadth-first tree towards its root, as far as residuals allow. Worth an order of magnitude: what is left to the search for paths is what got stuck.
// False if the pulse ended it early.
bool tree_push(FlowState& state, const Component& component, Travellers travellers, Pulse& pulse);

}  // namespace graphtv

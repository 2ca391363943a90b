// Components: the parts of the graph that hang together by open edges.
#pragma once

#include <optional>

#include "solver/flow/flow_state.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

// Appends the component of `root`, a resting vertex, to FlowState::order at `begin` and returns its
// end. Its vertices are free then, in breadth-first order, with the arc to their parent.
// Edges nearly saturated either way join the tree only where no other does: less gets stuck in them.
// Nothing if the budget ended it early.
std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            WorkBudget& budget);

// Sends every traveller along the breadth-first tree towards its root, as far as residuals allow.
// The search for paths then only has to move what got stuck, which makes it ten times as fast.
// False if the budget ended it early.
bool tree_push(FlowState& state, const Component& component, WorkBudget& budget);

}  // namespace graphtv

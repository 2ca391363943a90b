#include "solver/flow/max_flow.hpp"

#include <atomic>
#include <limits>

#include "solver/flow/component_flow.hpp"
#include "solver/flow/components.hpp"

namespace graphtv {

bool max_flow(const EdgeList& graph, std::span<const double> weights, std::span<double> x,
              std::span<double> excess, double tolerance, Travellers travellers, Watch& watch) {
    FlowState state(FlowNetwork(graph, weights, watch));
    FlowNetwork& network = state.network;
    const auto original = [&](Vertex v) { return static_cast<std::size_t>(network.original(v)); };
    const double no_bound = std::numeric_limits<double>::max();
    if (!network.take(x, {}, no_bound, state.excess, watch)) return false;
    const Vertex n = network.n_vertices();
    for (Vertex v = 0; v < n; ++v) state.e(v) = excess[original(v)];

    std::atomic<bool> stop = false;
    WorkBudget budget(&watch, stop);
    ComponentFlow flow;
    bool is_finished = true;
    std::size_t begin = 0;
    for (Vertex root = 0; root < n && is_finished; ++root) {
        if (state.at(root) != Side::resting) continue;
        const auto end = gather_component(state, root, begin, budget);
        if (!end) {
            is_finished = false;
            break;
        }
        const Component component{begin, *end, false, tolerance, tolerance};
        begin = *end;
        if (component.size() > 1)
            is_finished =
                flow.run(state, component, travellers, budget) != AugmentingPaths::End::expired;
        if (budget.spend(static_cast<unsigned>(component.size()))) is_finished = false;
    }
    network.hand_back(1);
    for (Vertex v = 0; v < n; ++v) excess[original(v)] = state.e(v);
    return is_finished;
}

}  // namespace graphtv

#include "solver/components.hpp"

#include <algorithm>

namespace graphtv {

std::size_t gather_component(FlowState& state, Vertex root, std::size_t begin) {
    const FlowNetwork& network = state.network;
    std::size_t end = begin;
    state.order[end++] = root;
    state.at(root) = Side::free;
    state.tree(root).parent = is_root;
    for (std::size_t i = begin; i < end; ++i) {
        const Vertex v = state.order[i];
        for (ArcIndex a = network.begin(v); a < network.end(v); ++a) {
            const Arc& arc = network[a];
            if (arc.closed() || state.at(arc.to) != Side::resting) continue;
            state.at(arc.to) = Side::free;
            state.tree(arc.to).parent = arc.reverse;
            state.order[end++] = arc.to;
        }
    }
    return end;
}

void tree_push(FlowState& state, const Component& component) {
    FlowNetwork& network = state.network;
    for (std::size_t i = component.end; --i > component.begin;) {
        const Vertex v = state.order[i];
        const ArcIndex up = state.tree(v).parent;
        const double e = state.e(v);
        const double amount = e > 0.0 ? std::min(e, network[up].residual)
                                      : -std::min(-e, network.reverse(up).residual);
        state.push(v, up, amount);
    }
}

}  // namespace graphtv

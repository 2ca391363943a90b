#include "solver/components.hpp"

#include <algorithm>

namespace graphtv {

namespace {
constexpr std::size_t between_looks = 1 << 15;
}

std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            std::vector<ArcIndex>& narrow, Pulse& pulse) {
    constexpr double share = 0.03;
    const FlowNetwork& network = state.network;
    std::size_t end = begin;
    const auto take = [&](Vertex v, ArcIndex parent) {
        state.at(v) = Side::free;
        state.tree(v).parent = parent;
        state.order[end++] = v;
    };
    take(root, is_root);
    narrow.clear();
    std::size_t next = 0;
    for (std::size_t i = begin;;) {
        for (; i < end; ++i) {
            if ((i - begin + 1) % between_looks == 0 && pulse.glance()) return std::nullopt;
            const Vertex v = state.order[i];
            for (ArcIndex a = network.begin(v); a < network.end(v); ++a) {
                const Arc& arc = network[a];
                if (arc.closed() || state.at(arc.to) != Side::resting) continue;
                const double back = network[arc.reverse].residual;
                if (arc.residual < share * back || back < share * arc.residual)
                    narrow.push_back(a);
                else
                    take(arc.to, arc.reverse);
            }
        }
        while (i == end && next < narrow.size()) {
            const Arc& arc = network[narrow[next++]];
            if (state.at(arc.to) == Side::resting) take(arc.to, arc.reverse);
        }
        if (i == end) return end;
    }
}

bool tree_push(FlowState& state, const Component& component, Travellers travellers, Pulse& pulse) {
    FlowNetwork& network = state.network;
    for (std::size_t i = component.end; --i > component.begin;) {
        if ((i - component.begin) % between_looks == 0 && pulse.glance()) return false;
        const Vertex v = state.order[i];
        const ArcIndex up = state.tree(v).parent;
        const double e = state.e(v);
        if (e < 0.0 && travellers == Travellers::excess) continue;
        const double amount = e > 0.0 ? std::min(e, network[up].residual)
                                      : -std::min(-e, network.reverse(up).residual);
        state.push(v, up, amount);
    }
    return true;
}

}  // namespace graphtv

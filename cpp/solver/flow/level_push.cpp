#include "solver/flow/level_push.hpp"

#include <algorithm>

namespace graphtv {

namespace {
constexpr std::uint32_t unreached = SearchNode::unreached;

constexpr std::size_t least_size = 64, longest_path = 512;

}  // namespace

// Moves excess towards deficits for from = source, and deficits towards excess for from = sink. If
// the budget ends it, the flow is feasible.
template <Side from>
bool LevelPush::sweep(FlowState& state, const Component& component, double threshold,
                      WorkBudget& budget) {
    constexpr double sign = from == Side::source ? 1.0 : -1.0;
    const UndirectedNetwork& network = state.network;
    // The directions in which excess leaves v and reaches v over an arc.
    const auto outward = [](Arc a) { return from == Side::source ? a : reverse(a); };
    const auto inward = [](Arc a) { return from == Side::source ? reverse(a) : a; };
    const auto vertices = component.vertices(state);
    Vertex* const queue = state.spare.data() + component.begin;
    std::size_t end = 0, wanted = 0;
    for (const Vertex v : vertices) {
        const double e = sign * state.e(v);
        SearchNode& node = state.tree(v);
        node.set_level(unreached);
        if (e > component.tolerance) ++wanted;
        if (e < -component.tolerance) {
            node.level = 0;
            queue[end++] = v;
        }
    }
    if (wanted == 0 || end == 0) return false;
    std::size_t missing = wanted;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < end && missing > 0; ++i) {
        if ((i + 1) % between_looks == 0 && budget.check_watch()) return false;
        const Vertex v = queue[i];
        const std::uint32_t depth = state.tree(v).level + 1;
        for (const auto [to, arc] : network[v]) {
            // This order matters: another thread may own the vertex across a closed edge.
            if (!(network.residual(inward(arc)) > component.capacity_tolerance) ||
                state.tree(to).level != unreached)
                continue;
            state.tree(to).set_level(depth);
            queue[end++] = to;
            if (sign * state.e(to) > component.tolerance) {
                --missing;
                total += depth;
            }
        }
    }
    if (static_cast<double>(total) < threshold * static_cast<double>(vertices.size())) return false;
    ++n_level_pushes;
    for (std::size_t i = end; i-- > 0;) {
        if ((i + 1) % between_looks == 0 && budget.check_watch()) return false;
        const Vertex v = queue[i];
        double e = sign * state.e(v);
        if (!(e > component.tolerance)) continue;
        const std::uint32_t depth = state.tree(v).level - 1;
        for (const auto [to, arc] : network[v]) {
            if (!(network.residual(outward(arc)) > component.capacity_tolerance) ||
                state.tree(to).level != depth)
                continue;
            const double amount = std::min(e, network.residual(outward(arc)));
            state.push(v, arc, to, sign * amount);
            e -= amount;
            if (!(e > component.tolerance)) break;
        }
    }
    return true;
}

bool LevelPush::run(FlowState& state, const Component& component, double threshold,
                    WorkBudget& budget) {
    if (component.size() < least_size) return true;
    for (bool going = true; going;) {
        std::size_t n_sources = 0, n_sinks = 0;
        for (const Vertex v : component.vertices(state)) {
            n_sources += state.e(v) > component.tolerance;
            n_sinks += state.e(v) < -component.tolerance;
        }
        if (n_sources == 0 || n_sinks == 0) return true;
        // Skip the push if so few vertices are left that no distance would make it worthwhile.
        const auto enough = [&](std::size_t n) { return n * longest_path > component.size(); };
        const bool pushed = component.moves_excess() && enough(n_sources) &&
                            sweep<Side::source>(state, component, threshold, budget);
        const bool pulled = component.moves_deficits() && enough(n_sinks) &&
                            sweep<Side::sink>(state, component, threshold, budget);
        going = pushed || pulled;
        budget.spend(static_cast<unsigned>(std::min<std::size_t>(4 * component.size(), 1U << 30)));
        if (budget.check()) return false;
    }
    return true;
}

}  // namespace graphtv

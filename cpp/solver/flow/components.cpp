#include "solver/flow/components.hpp"

#include <algorithm>

namespace graphtv {

namespace {

// The vertices of a component that have narrow arcs, in order of discovery. They are linked by
// SearchNode::time, which is not in use yet. Also stores how far the second scan of their arcs has
// come.
class NarrowPlaces {
  public:
    explicit NarrowPlaces(FlowState& state) : state_(state) {}

    void add(Vertex v) {
        link(v) = none;
        if (last_ == none)
            first_ = name(v);
        else
            link(static_cast<Vertex>(last_)) = name(v);
        last_ = name(v);
    }

    // The next arc from such a vertex, `from()`, to a vertex that is still at rest.
    const OutArc* next() {
        for (; first_ != none; advance())
            for (const auto arcs = state_.network[from()]; n_read_ < arcs.size();) {
                const OutArc& candidate = arcs[n_read_++];
                if (!state_.network.is_closed(candidate.arc) &&
                    state_.at(candidate.to) == Side::resting)
                    return &candidate;
            }
        return nullptr;
    }
    Vertex from() const { return static_cast<Vertex>(first_); }

  private:
    void advance() {
        first_ = link(from());
        if (first_ == none) last_ = none;
        n_read_ = 0;
    }
    static std::uint32_t name(Vertex v) { return static_cast<std::uint32_t>(v); }
    std::uint32_t& link(Vertex v) { return state_.tree(v).time; }

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    FlowState& state_;
    std::uint32_t first_ = none, last_ = none;
    std::size_t n_read_ = 0;
};

}  // namespace

std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            WorkBudget& budget) {
    constexpr double share = 0.03;
    const UndirectedNetwork& network = state.network;
    std::size_t end = begin;
    const auto take = [&](Vertex v, Arc up, Vertex parent) {
        state.at(v) = Side::free;
        state.tree(v).up = up;
        state.tree(v).parent = parent;
        state.order[end++] = v;
    };
    take(root, 0, SearchNode::root);
    NarrowPlaces places(state);
    for (std::size_t i = begin;;) {
        for (; i < end; ++i) {
            if ((i - begin + 1) % between_looks == 0 && budget.check_watch()) return std::nullopt;
            const Vertex v = state.order[i];
            bool is_narrow = false;
            for (const auto [to, arc] : network[v]) {
                if (network.is_closed(arc) || state.at(to) != Side::resting) continue;
                const double there = network.residual(arc), back = network.residual(reverse(arc));
                if (there < share * back || back < share * there)
                    is_narrow = true;
                else
                    take(to, reverse(arc), v);
            }
            if (is_narrow) places.add(v);
        }
        const OutArc* out = places.next();
        if (out == nullptr) return end;
        take(out->to, reverse(out->arc), places.from());
    }
}

bool tree_push(FlowState& state, const Component& component, WorkBudget& budget) {
    const UndirectedNetwork& network = state.network;
    for (std::size_t i = component.end; --i > component.begin;) {
        if ((i - component.begin) % between_looks == 0 && budget.check_watch()) return false;
        const Vertex v = state.order[i];
        const SearchNode& node = state.tree(v);
        const double e = state.e(v);
        const double amount = e > 0.0 ? std::min(e, network.residual(node.up))
                                      : -std::min(-e, network.residual(reverse(node.up)));
        state.push(v, node.up, node.parent, amount);
    }
    return true;
}

}  // namespace graphtv

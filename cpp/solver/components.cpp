#include "solver/components.hpp"

#include <algorithm>
#include <cmath>

namespace graphtv {

namespace {
constexpr std::size_t between_looks = 1 << 15;

// The vertices of a component that have narrow arcs, in the order in which they were found, linked
// by SearchNode::next; and how far their arcs have been looked at once more.
class NarrowPlaces {
  public:
    explicit NarrowPlaces(FlowState& state) : state_(state) {}

    void add(Vertex v) {
        state_.tree(v).next = no_vertex;
        if (last_ == no_vertex)
            first_ = v;
        else
            state_.tree(last_).next = v;
        last_ = v;
    }

    // The next arc at such a vertex, which is then `from()`, to a vertex that is still at rest.
    const OutArc* next() {
        for (; first_ != no_vertex; advance())
            for (const auto arcs = state_.network[first_]; n_read_ < arcs.size();) {
                const OutArc& candidate = arcs[n_read_++];
                if (!state_.network.is_closed(candidate.arc) &&
                    state_.at(candidate.to) == Side::resting)
                    return &candidate;
            }
        return nullptr;
    }
    Vertex from() const { return first_; }

  private:
    void advance() {
        first_ = state_.tree(first_).next;
        if (first_ == no_vertex) last_ = no_vertex;
        n_read_ = 0;
    }

    FlowState& state_;
    Vertex first_ = no_vertex, last_ = no_vertex;
    std::size_t n_read_ = 0;
};

}  // namespace

std::optional<std::size_t> gather_component(FlowState& state, Vertex root, std::size_t begin,
                                            Pulse& pulse) {
    constexpr double share = 0.03;                         // of the room the other way
    constexpr double narrow = (1.0 - share) / (1.0 + share);  // in terms of |p|
    const FlowNetwork& network = state.network;
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
            if ((i - begin + 1) % between_looks == 0 && pulse.glance()) return std::nullopt;
            const Vertex v = state.order[i];
            bool is_narrow = false;
            for (const auto [to, arc] : network[v]) {
                if (network.is_closed(arc) || state.at(to) != Side::resting) continue;
                if (std::abs(1.0 - network.room(arc)) > narrow)
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

bool tree_push(FlowState& state, const Component& component, Pulse& pulse) {
    const FlowNetwork& network = state.network;
    for (std::size_t i = component.end; --i > component.begin;) {
        if ((i - component.begin) % between_looks == 0 && pulse.glance()) return false;
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

#include "solver/augmenting_paths.hpp"

#include <algorithm>
#include <limits>

namespace graphtv {

namespace {

// `next_active` of a vertex that is not in the queue; the last of the queue points to itself.
constexpr Vertex not_queued = -2;
constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void AugmentingPaths::activate(Vertex v) {
    SearchNode& node = state_->tree(v);
    if (node.next != not_queued) return;
    node.next = v;
    if (last_active_ == no_vertex)
        first_active_ = v;
    else
        state_->tree(last_active_).next = v;
    last_active_ = v;
}

Vertex AugmentingPaths::next_active() {
    while (first_active_ != no_vertex) {
        const Vertex v = first_active_;
        SearchNode& node = state_->tree(v);
        if (node.next == v)
            first_active_ = last_active_ = no_vertex;
        else
            first_active_ = node.next;
        node.next = not_queued;
        if (state_->at(v) != Side::free) return v;
    }
    return no_vertex;
}

void AugmentingPaths::start(const Component& component) {
    n_sources_ = n_sinks_ = 0;
    for (const Vertex v : component.vertices(*state_)) {
        state_->tree(v) = {no_parent, 0, 0, not_queued};
        const double e = state_->e(v);
        if (std::abs(e) <= tolerance_) {
            state_->at(v) = Side::free;
            continue;
        }
        state_->at(v) = e > 0.0 ? Side::source : Side::sink;
        ++(e > 0.0 ? n_sources_ : n_sinks_);
        state_->tree(v).parent = is_root;
        activate(v);
    }
}

AugmentingPaths::End AugmentingPaths::run(FlowState& state, const Component& component,
                                          std::int64_t most_arcs, Pulse& pulse) {
    state_ = &state;
    tolerance_ = component.tolerance;
    capacity_tolerance_ = component.capacity_tolerance;
    time_ = 0;
    first_active_ = last_active_ = no_vertex;
    start(component);
    const std::int64_t last_arc = path_arcs + most_arcs;
    while (n_sources_ > 0 && n_sinks_ > 0) {
        const Vertex v = next_active();
        if (v == no_vertex) return End::blocked;
        if (!grow(v, pulse)) return End::expired;
        if (path_arcs > last_arc) return End::exhausted;
    }
    return End::balanced;
}

// Looks at every arc of v. Where the trees meet, sends flow and repairs them.
bool AugmentingPaths::grow(Vertex v, Pulse& pulse) {
    FlowNetwork& network = state_->network;
    const Side side = state_->at(v);
    for (ArcIndex a = network.begin(v), end = network.end(v); a < end;) {
        const Arc arc = network[a];
        const double residual = side == Side::source ? arc.residual : network[arc.reverse].residual;
        if (!(residual > capacity_tolerance_)) {
            ++a;
            continue;
        }
        const Vertex w = arc.to;
        SearchNode& there = state_->tree(w);
        if (state_->at(w) == Side::free) {
            const SearchNode& here = state_->tree(v);
            state_->at(w) = side;
            there.parent = arc.reverse;
            there.current = here.current;
            there.level = here.level + 1;
            activate(w);
            ++a;
        } else if (state_->at(w) != side) {
            const std::int64_t before = path_arcs;
            if (side == Side::source)
                augment(v, a);
            else
                augment(w, arc.reverse);
            if (pulse.beat(static_cast<unsigned>(4 * (path_arcs - before)))) return false;
            if (n_sources_ == 0 || n_sinks_ == 0) return true;
            if (state_->at(v) != side) return true;  // lost: whoever takes it will activate it
        } else {
            // Both are in one tree: v may be the shorter way to the root.
            const SearchNode& here = state_->tree(v);
            if (there.current <= here.current && there.level > here.level + 1 &&
                there.parent != is_root) {
                there.parent = arc.reverse;
                there.current = here.current;
                there.level = here.level + 1;
            }
            ++a;
        }
    }
    return !pulse.beat(8);
}

// Sends what fits from the source root above v over the bridge to the sink root above its end.
void AugmentingPaths::augment(Vertex v, ArcIndex bridge) {
    FlowNetwork& network = state_->network;
    ++time_;
    ++n_paths;
    ++path_arcs;
    double amount = network[bridge].residual;
    Vertex source = v;
    for (ArcIndex up; (up = state_->tree(source).parent) != is_root; source = network[up].to)
        amount = std::min(amount, network.reverse(up).residual);
    Vertex sink = network[bridge].to;
    for (ArcIndex up; (up = state_->tree(sink).parent) != is_root; sink = network[up].to)
        amount = std::min(amount, network[up].residual);
    amount = std::min({amount, state_->e(source), -state_->e(sink)});

    network.push(bridge, amount);
    state_->e(source) -= amount;
    state_->e(sink) += amount;
    orphans_.clear();
    next_orphan_ = 0;
    for (Vertex w = v; w != source; ++path_arcs) {
        const ArcIndex up = state_->tree(w).parent;
        const Vertex parent = network[up].to;
        network[up].residual += amount;
        if (!((network.reverse(up).residual -= amount) > capacity_tolerance_)) orphan(w);
        w = parent;
    }
    for (Vertex w = network[bridge].to; w != sink; ++path_arcs) {
        const ArcIndex up = state_->tree(w).parent;
        const Vertex parent = network[up].to;
        network.reverse(up).residual += amount;
        if (!((network[up].residual -= amount) > capacity_tolerance_)) orphan(w);
        w = parent;
    }
    if (!(state_->e(source) > tolerance_)) {
        orphan(source);
        --n_sources_;
    }
    if (!(state_->e(sink) < -tolerance_)) {
        orphan(sink);
        --n_sinks_;
    }
    if (n_sources_ == 0 || n_sinks_ == 0) return;
    while (next_orphan_ < orphans_.size()) {
        const Vertex w = orphans_[next_orphan_++];
        if (state_->at(w) == Side::source)
            adopt<Side::source>(w);
        else
            adopt<Side::sink>(w);
    }
}

void AugmentingPaths::orphan(Vertex v) {
    state_->tree(v).parent = no_parent;
    orphans_.push_back(v);
}

// Counted up to the first vertex whose distance is known now; leaves that knowledge on the way.
template <Side side>
std::uint32_t AugmentingPaths::distance_to_root(Vertex v) {
    FlowNetwork& network = state_->network;
    std::uint32_t distance = 0;
    Vertex w = v;
    for (;;) {
        SearchNode& node = state_->tree(w);
        if (node.current == time_) {
            distance += node.level;
            break;
        }
        if (node.parent == is_root) {
            node.current = time_;
            node.level = 0;
            break;
        }
        if (node.parent == no_parent) return unreachable;
        ++distance;
        w = network[node.parent].to;
    }
    std::uint32_t level = distance;
    for (w = v; state_->tree(w).current != time_; w = network[state_->tree(w).parent].to) {
        state_->tree(w).current = time_;
        state_->tree(w).level = level--;
    }
    return distance;
}

// Finds v a parent in its own tree that hangs from a root, the nearest; or sets it free.
template <Side side>
void AugmentingPaths::adopt(Vertex v) {
    FlowNetwork& network = state_->network;
    // What can flow between v and its would-be parent, in the direction of the tree.
    const auto residual = [&](ArcIndex a) {
        return side == Side::source ? network.reverse(a).residual : network[a].residual;
    };
    const ArcIndex begin = network.begin(v), end = network.end(v);
    ArcIndex best = no_parent;
    std::uint32_t least = unreachable;
    for (ArcIndex a = begin; a < end; ++a) {
        const Vertex w = network[a].to;
        if (network[a].closed() || state_->at(w) != side) continue;
        if (state_->tree(w).parent == no_parent || !(residual(a) > capacity_tolerance_)) continue;
        const std::uint32_t distance = distance_to_root<side>(w);
        if (distance < least) {
            least = distance;
            best = a;
        }
    }
    SearchNode& node = state_->tree(v);
    if (best != no_parent) {
        node.parent = best;
        node.current = time_;
        node.level = least + 1;
        return;
    }
    for (ArcIndex a = begin; a < end; ++a) {
        const Vertex w = network[a].to;
        if (network[a].closed() || state_->at(w) != side) continue;
        const ArcIndex up = state_->tree(w).parent;
        if (residual(a) > capacity_tolerance_) activate(w);
        if (up < is_root && network[up].to == v) orphan(w);
    }
    state_->at(v) = Side::free;
    node.current = 0;
}

}  // namespace graphtv

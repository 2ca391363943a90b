#include "solver/flow/augmenting_paths.hpp"

#include <algorithm>
#include <cmath>

namespace graphtv {

namespace {

constexpr std::uint32_t unreachable = SearchNode::unreached;

}  // namespace

void AugmentingPaths::activate(Vertex v) {
    SearchNode& node = state_->tree(v);
    if (node.is_active) return;
    node.is_active = 1;
    const std::size_t place = first_active_ + n_active_++;
    queue_[place < queue_.size() ? place : place - queue_.size()] = v;
}

Vertex AugmentingPaths::next_active() {
    while (n_active_ > 0) {
        const Vertex v = queue_[first_active_];
        first_active_ = first_active_ + 1 < queue_.size() ? first_active_ + 1 : 0;
        --n_active_;
        state_->tree(v).is_active = 0;
        if (state_->at(v) != Side::free) return v;
    }
    return no_vertex;
}

void AugmentingPaths::start(const Component& component) {
    n_sources_ = n_sinks_ = 0;
    excess_ = deficit_ = sent_ = 0.0;
    for (const Vertex v : component.vertices(*state_)) {
        state_->tree(v) = {0, SearchNode::none, 0, 0, 0};
        const double e = state_->e(v);
        if (std::abs(e) <= tolerance_) {
            state_->at(v) = Side::free;
            continue;
        }
        state_->at(v) = e > 0.0 ? Side::source : Side::sink;
        ++(e > 0.0 ? n_sources_ : n_sinks_);
        (e > 0.0 ? excess_ : deficit_) += std::abs(e);
        state_->tree(v).parent = SearchNode::root;
        activate(v);
    }
}

AugmentingPaths::End AugmentingPaths::run(FlowState& state, const Component& component,
                                          std::int64_t most_arcs, WorkBudget& budget) {
    state_ = &state;
    tolerance_ = component.tolerance;
    capacity_tolerance_ = component.capacity_tolerance;
    time_ = 0;
    queue_ = component.spare(state);
    first_active_ = n_active_ = 0;
    start(component);
    const std::int64_t last_arc = path_arcs + most_arcs;
    const double allowed = budget.left();
    while (n_sources_ > 0 && n_sinks_ > 0) {
        const Vertex v = next_active();
        if (v == no_vertex) return End::blocked;
        if (!grow(v, budget)) return End::expired;
        if (path_arcs > last_arc) return End::exhausted;
        if (lags_behind(allowed, budget.left())) {
            budget.give_up();
            return End::expired;
        }
    }
    return End::balanced;
}

// Whether the allowance is unlikely to suffice. Paths get longer, so if the fraction of the excess
// that has arrived is smaller than the fraction of the work spent, the rest will not arrive in
// time. The test starts after a quarter of the allowance, since small cuts may appear late.
bool AugmentingPaths::lags_behind(double allowed, double left) const {
    constexpr double patience = 0.25;
    const double spent = allowed - left;
    return spent > patience * allowed && sent_ * allowed < spent * std::min(excess_, deficit_);
}

// Scans every arc of v. Where the trees meet, sends flow and repairs them.
bool AugmentingPaths::grow(Vertex v, WorkBudget& budget) {
    const UndirectedNetwork& network = state_->network;
    const Side side = state_->at(v);
    const auto join = [&](SearchNode& there, Arc up) {
        const SearchNode& here = state_->tree(v);
        there.up = up;
        there.parent = v;
        there.time = here.time;
        there.set_level(here.level + 1);
    };
    const auto arcs = network[v];
    for (auto out = arcs.begin(); out != arcs.end();) {
        const auto [w, a] = *out;
        if (!has_room(side == Side::source ? a : reverse(a))) {
            ++out;
            continue;
        }
        SearchNode& there = state_->tree(w);
        if (state_->at(w) == Side::free) {
            state_->at(w) = side;
            join(there, reverse(a));
            activate(w);
            ++out;
        } else if (state_->at(w) != side) {
            const std::int64_t before = path_arcs;
            if (side == Side::source)
                augment(v, a, w);
            else
                augment(w, reverse(a), v);
            if (budget.spend(static_cast<unsigned>(4 * (path_arcs - before)))) return false;
            if (n_sources_ == 0 || n_sinks_ == 0) return true;
            if (state_->at(v) != side) return true;  // v left the tree
        } else {
            // Both are in the same tree: the path through v may be shorter.
            const SearchNode& here = state_->tree(v);
            if (there.time <= here.time && there.level > here.level + 1 && !there.is_root())
                join(there, reverse(a));
            ++out;
        }
    }
    return !budget.spend(8);
}

// Augments from the source root above v over the bridge to the sink root above w.
void AugmentingPaths::augment(Vertex v, Arc bridge, Vertex w) {
    UndirectedNetwork& network = state_->network;
    ++time_;
    ++n_paths;
    ++path_arcs;
    double amount = network.residual(bridge);
    Vertex source = v, sink = w;
    for (; !state_->tree(source).is_root(); source = state_->tree(source).parent)
        amount = std::min(amount, network.residual(reverse(state_->tree(source).up)));
    for (; !state_->tree(sink).is_root(); sink = state_->tree(sink).parent)
        amount = std::min(amount, network.residual(state_->tree(sink).up));
    amount = std::min({amount, state_->e(source), -state_->e(sink)});

    sent_ += amount;
    network.push(bridge, amount);
    state_->e(source) -= amount;
    state_->e(sink) += amount;
    orphans_.clear();
    next_orphan_ = 0;
    const auto send = [&](Vertex child, Arc a) {
        ++path_arcs;
        const Vertex parent = state_->tree(child).parent;
        network.push(a, amount);
        if (!has_room(a)) orphan(child);
        return parent;
    };
    while (v != source) v = send(v, reverse(state_->tree(v).up));
    while (w != sink) w = send(w, state_->tree(w).up);
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
        const Vertex lost = orphans_[next_orphan_++];
        if (state_->at(lost) == Side::source)
            adopt<Side::source>(lost);
        else
            adopt<Side::sink>(lost);
    }
}

void AugmentingPaths::orphan(Vertex v) {
    state_->tree(v).parent = SearchNode::none;
    orphans_.push_back(v);
}

// Counts up to the first vertex whose distance is up to date, and updates the vertices on the way.
std::uint32_t AugmentingPaths::distance_to_root(Vertex v) {
    std::uint32_t distance = 0;
    for (Vertex w = v;;) {
        SearchNode& node = state_->tree(w);
        if (node.time == time_) {
            distance += node.level;
            break;
        }
        if (node.is_root()) {
            node.time = time_;
            node.level = 0;
            break;
        }
        if (node.is_orphan()) return unreachable;
        ++distance;
        w = node.parent;
    }
    std::uint32_t level = distance;
    for (Vertex w = v; state_->tree(w).time != time_; w = state_->tree(w).parent) {
        state_->tree(w).time = time_;
        state_->tree(w).set_level(level--);
    }
    return distance;
}

// Finds the nearest parent for v in its own tree that is connected to a root. Frees v if there is
// none.
template <Side side>
void AugmentingPaths::adopt(Vertex v) {
    const UndirectedNetwork& network = state_->network;
    // Whether flow can pass between v and its candidate parent, in the direction of the tree.
    const auto is_open = [&](Arc a) { return has_room(side == Side::source ? reverse(a) : a); };
    OutArc best{SearchNode::none, 0};
    std::uint32_t least = unreachable;
    for (const OutArc out : network[v]) {
        // This order matters: another thread may own the vertex across a closed edge.
        if (!is_open(out.arc) || state_->at(out.to) != side) continue;
        if (state_->tree(out.to).is_orphan()) continue;
        const std::uint32_t distance = distance_to_root(out.to);
        if (distance < least) {
            least = distance;
            best = out;
        }
    }
    SearchNode& node = state_->tree(v);
    if (least != unreachable) {
        node.up = best.arc;
        node.parent = best.to;
        node.time = time_;
        node.set_level(least + 1);
        return;
    }
    for (const auto [w, a] : network[v]) {
        if (network.is_closed(a) || state_->at(w) != side) continue;
        if (is_open(a)) activate(w);
        if (state_->tree(w).parent == v) orphan(w);
    }
    state_->at(v) = Side::free;
    node.time = 0;
}

}  // namespace graphtv

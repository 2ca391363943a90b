#include "solver/flow/component_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/flow/components.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// The flow out of the component. If the sum is only rounding error, it is recomputed from the cut
// edges: for a component without data, the sign of the slope decides the value.
double slope(const FlowState& state, std::span<const Vertex> vertices, double size) {
    CompensatedSum total;
    for (const Vertex v : vertices) {
        total.add(state.excess[at(v)]);
        size += std::abs(state.excess[at(v)]);
    }
    if (std::abs(total.value()) > 1e-12 * size) return total.value();
    CompensatedSum cut;
    for (const Vertex v : vertices) cut.add(state.network.outflows(v).cut);
    return cut.value();
}

// The slope that decides at a level.
double slope_at(Level level, const Interval& slopes) {
    return level == Level::below ? slopes.lower : slopes.upper;
}

// How far the outflow y is from balancing the slopes.
double imbalance(const Interval& slopes, double y) { return std::abs(slopes.clip(-y) + y); }

}  // namespace

bool ComponentSolver::solve(FlowTask& task, const Component& component) {
    stack_.assign(1, component);
    n_settled = 0;
    if (task.loss.has_kinks()) stack_.back().level = Level::above;
    budget_.allow(task.allowance * static_cast<double>(component.size() + task.u.size() / 4));
    while (!stack_.empty()) {
        Component part = stack_.back();
        stack_.pop_back();
        ++n_components;
        if (!prepare(task, part)) return false;
        if (part.size() > 1 && !part.is_balanced) {
            const auto end = flow_.run(task.state, part, budget_);
            if (end == AugmentingPaths::End::expired) return false;
            const bool is_blocked = end == AugmentingPaths::End::blocked;
            if (is_blocked || part.level == Level::above) {
                if (!split(task, part, is_blocked)) return false;
                continue;
            }
        }
        // Excess without deficit is rounding error or is bounded by the domain: the part is final.
        finish(task, part);
        n_settled += part.size();
        if (budget_.spend(static_cast<unsigned>(std::min<std::size_t>(8 * part.size(), 1U << 30))))
            return false;
    }
    return true;
}

// Computes the value m of the component and the excess of its vertices. Returns false if it was
// ended early. It checks only between passes, since a pass takes about 10 ns per vertex.
bool ComponentSolver::prepare(FlowTask& task, Component& component) {
    FlowState& state = task.state;
    const auto vertices = component.vertices(state);
    const double out = slope(state, vertices, task.largest_capacity);
    if (looks(component)) return false;
    const double m = task.loss.minimizer(vertices, out, component.spare(state));
    if (looks(component)) return false;
    if (component.is_part) choose_flow(task, component, m);
    return !looks(component) && balance(task, component, m);
}

// Computes the excess -G_v'(m) - (Kᵀp)_v of the vertices at the level of the component. If nothing
// belongs above, goes on to the level below.
bool ComponentSolver::balance(FlowTask& task, Component& component, double m) {
    FlowState& state = task.state;
    const bool has_kinks = component.level != Level::at;  // then the level must be decided first
    // Excess below the rounding error of m, of the derivatives and of the flow counts as zero.
    double scale = 0.0, noise = 0.0, most = 0.0, least = 0.0;
    for (const Vertex v : component.vertices(state)) {
        const Interval slopes = task.loss.slopes(v, m);
        const double y = state.e(v);
        scale = std::max({scale, std::abs(slopes.lower), std::abs(slopes.upper), std::abs(y)});
        noise = std::max(noise, task.loss.rounding(v, m));
        most = std::max(most, -slopes.upper - y);
        least = std::min(least, -slopes.lower - y);
        task.u[at(v)] = m;
        if (!has_kinks) state.e(v) = -slopes.upper - y;
    }
    component.tolerance = std::max({1e-13 * scale, noise, 4.0 * epsilon * task.largest_capacity});
    component.capacity_tolerance = 4.0 * epsilon * task.largest_capacity;
    if (!has_kinks) {
        component.is_balanced = most <= component.tolerance && least >= -component.tolerance;
        return !looks(component);
    }
    if (component.level == Level::above && most <= component.tolerance)
        component.level = Level::below;
    component.is_balanced = component.level == Level::below && least >= -component.tolerance;
    for (const Vertex v : component.vertices(state))
        state.e(v) = -slope_at(component.level, task.loss.slopes(v, m)) - state.e(v);
    return !looks(component);
}

// A part inherits the flow that pushed the excess of its parent against the new cut. The starting
// flow, with the cut edges saturated, is often closer to balance. If so, restore it.
void ComponentSolver::choose_flow(FlowTask& task, const Component& component, double m) {
    FlowState& state = task.state;
    const auto vertices = component.vertices(state);
    double inherited = 0.0, remembered = 0.0;
    for (const Vertex v : vertices) {
        const Interval slopes = task.loss.slopes(v, m);
        inherited += imbalance(slopes, state.e(v));
        remembered += imbalance(slopes, state.network.remembered_outflow(v));
    }
    if (!(remembered < inherited)) return;
    for (const Vertex v : vertices) state.network.restore(v);
    for (const Vertex v : vertices) state.e(v) = state.network.outflows(v).total;
}

// Splits the component by its search trees, if flow was blocked: the source tree is above, the sink
// tree is below, and the rest between them is final. At one level of two, the other tree belongs to
// the rest, and the rest of the level above is solved again with the flow that it has.
bool ComponentSolver::split(FlowTask& task, const Component& component, bool is_blocked) {
    FlowState& state = task.state;
    UndirectedNetwork& network = state.network;
    const auto vertices = component.vertices(state);
    const Side other = component.level == Level::above   ? Side::sink
                       : component.level == Level::below ? Side::source
                                                         : Side::free;
    std::size_t n_source = 0, n_sink = 0;
    for (const Vertex v : vertices) {
        if (!is_blocked || state.at(v) == other) state.at(v) = Side::free;
        n_source += state.at(v) == Side::source;
        n_sink += state.at(v) == Side::sink;
    }
    n_splits += n_source + n_sink > 0;
    const std::size_t first_rest = component.begin + n_source + n_sink;
    std::size_t source = component.begin, sink = source + n_source, rest = first_rest;
    for (const Vertex v : vertices) {
        const Side side = state.at(v);
        if (side == Side::free) {
            state.spare[rest++] = v;
            continue;
        }
        state.spare[side == Side::source ? source++ : sink++] = v;
        for (const auto [w, a] : network[v]) {
            if (network.is_closed(a) || state.at(w) == side) continue;
            const double pushed = side == Side::source ? network.cut(a) : -network.cut(reverse(a));
            state.e(v) -= pushed;
            state.e(w) += pushed;
        }
    }
    finish(task, component);
    if (looks(component)) return false;
    const bool is_rest_final = component.level != Level::above;
    if (is_rest_final) n_settled += component.end - first_rest;
    const auto place = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    if (is_rest_final)
        std::copy(state.spare.begin() + place(first_rest),
                  state.spare.begin() + place(component.end),
                  state.order.begin() + place(first_rest));
    // Search for components again, since the parts may be disconnected.
    const Level level = component.level == Level::at ? Level::at : Level::above;
    const std::size_t last = is_rest_final ? first_rest : component.end;
    for (std::size_t i = component.begin, end = i; i < last; ++i) {
        const Vertex v = state.spare[i];
        if (state.at(v) != Side::resting) continue;
        const std::size_t begin = end;
        const auto gathered = gather_component(state, v, begin, budget_);
        if (!gathered) return false;
        end = *gathered;
        stack_.push_back({begin, end, i < first_rest, level});
    }
    return true;
}

// Puts the vertices at rest and stores their outflow in place of the excess.
void ComponentSolver::finish(FlowTask& task, const Component& component) {
    FlowState& state = task.state;
    for (const Vertex v : component.vertices(state)) {
        const double slope = slope_at(component.level, task.loss.slopes(v, task.u[at(v)]));
        state.e(v) = -slope - state.e(v);
        state.at(v) = Side::resting;
    }
}

}  // namespace graphtv

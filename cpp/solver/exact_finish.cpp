#include "solver/exact_finish.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "parallel/parallel_for.hpp"
#include "solver/augmenting_paths.hpp"
#include "solver/components.hpp"
#include "solver/pulse.hpp"
#include "solver/waves.hpp"

namespace graphtv {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One problem on its way: the term, the state, and what counts as nothing.
struct Task {
    const SmoothTerm& term;
    std::size_t channel;
    FlowState& state;
    std::span<double> u;  // by vertex of the network
    double capacity_tolerance = 0.0;
    double lowest = 0.0, highest = 0.0;  // of the minimisers of the G_i

    std::size_t entry(Vertex v) const {
        return channel * state.n() + at(state.network.original(v));
    }
    double derivative(Vertex v, double m) const { return term.derivative(entry(v), m); }
    double minimizer(std::span<const Vertex> vertices, double slope,
                     std::vector<Vertex>& names) const {
        names.resize(vertices.size());
        for (std::size_t i = 0; i < vertices.size(); ++i)
            names[i] = state.network.original(vertices[i]);
        return term.minimizer(names, channel, slope);
    }
    double minimizer(Vertex v, double slope) const {
        const Vertex name = state.network.original(v);
        return term.minimizer({&name, 1}, channel, slope);
    }
};

// What one thread needs to work on components.
struct Worker {
    Worker(Watch* watch, std::atomic<bool>& stop) : pulse(watch, stop) {}

    Pulse pulse;
    AugmentingPaths paths;
    Waves waves;
    std::vector<Component> stack;
    std::vector<Vertex> names;
    std::vector<ArcIndex> narrow;
    std::int64_t components = 0, splits = 0;

    bool solve(Task& task, Component component);

  private:
    void prepare(Task& task, Component& component);
    void finish(Task& task, const Component& component);
    bool split(Task& task, const Component& component);
};

// The value of the component, and the excess of its vertices.
void Worker::prepare(Task& task, Component& component) {
    FlowState& state = task.state;
    const auto vertices = component.vertices(state);
    double slope = 0.0, lost = 0.0;
    for (const Vertex v : vertices) {
        const double y = state.e(v), next = slope + y;
        lost += std::abs(slope) >= std::abs(y) ? (slope - next) + y : (y - next) + slope;
        slope = next;
    }
    const double m = task.minimizer(vertices, slope + lost, names);
    if (component.part) {
        double kept = 0.0, remembered = 0.0;
        for (const Vertex v : vertices) {
            const double g = task.derivative(v, m);
            kept += std::abs(g + state.e(v));
            remembered += std::abs(g + state.network.remembered_outflow(v));
        }
        if (remembered < kept) {
            for (const Vertex v : vertices) state.network.restore(v);
            for (const Vertex v : vertices) state.e(v) = state.network.remembered_outflow(v);
        }
    }
    const double beside = m + 8.0 * epsilon * std::abs(m);
    double scale = 0.0, noise = 0.0;
    for (const Vertex v : vertices) {
        const double g = task.derivative(v, m), y = state.e(v);
        scale = std::max({scale, std::abs(g), std::abs(y)});
        noise = std::max(noise, std::abs(task.derivative(v, beside) - g));
        state.e(v) = -g - y;
        task.u[at(v)] = m;
    }
    component.tolerance = std::max(1e-13 * scale, noise);
    component.capacity_tolerance = task.capacity_tolerance;
}

// Back to rest, with the outflow in place of the excess.
void Worker::finish(Task& task, const Component& component) {
    FlowState& state = task.state;
    for (const Vertex v : component.vertices(state)) {
        state.e(v) = -task.derivative(v, task.u[at(v)]) - state.e(v);
        state.at(v) = Side::resting;
    }
}

// Cuts the component along its search trees and puts the parts that are not done on the stack.
// False if there is nothing to split.
bool Worker::split(Task& task, const Component& component) {
    FlowState& state = task.state;
    FlowNetwork& network = state.network;
    const auto vertices = component.vertices(state);
    std::size_t n_source = 0, n_sink = 0;
    for (const Vertex v : vertices) {
        n_source += state.at(v) == Side::source;
        n_sink += state.at(v) == Side::sink;
    }
    if (n_source == 0 || n_sink == 0) return false;
    ++splits;
    std::size_t source = component.begin, sink = source + n_source, free = sink + n_sink;
    const std::size_t parts[] = {source, sink, free};
    for (const Vertex v : vertices) {
        const Side side = state.at(v);
        if (side == Side::free) {
            state.spare[free++] = v;
            continue;
        }
        state.spare[side == Side::source ? source++ : sink++] = v;
        for (ArcIndex a = network.begin(v); a < network.end(v); ++a) {
            if (network[a].closed()) continue;
            const Vertex w = network[a].to;
            if (state.at(w) == side) continue;
            if (side == Side::source) {
                const double rest = network.cut(a);
                state.e(v) -= rest;
                state.e(w) += rest;
            } else {
                const double rest = network.cut(network[a].reverse);
                state.e(v) += rest;
                state.e(w) -= rest;
            }
        }
    }
    finish(task, component);
    std::copy(state.spare.begin() + static_cast<std::ptrdiff_t>(parts[2]),
              state.spare.begin() + static_cast<std::ptrdiff_t>(component.end),
              state.order.begin() + static_cast<std::ptrdiff_t>(parts[2]));
    // The free part rests; the others are gathered again, for they may fall apart.
    for (std::size_t i = parts[0]; i < parts[2]; ++i) {
        if (i == parts[1]) continue;
    }
    std::size_t end = parts[0];
    for (std::size_t i = parts[0]; i < parts[2]; ++i) {
        const Vertex v = state.spare[i];
        if (state.at(v) != Side::resting) continue;
        const std::size_t begin = end;
        end = gather_component(state, v, begin, narrow);
        stack.push_back({begin, end, true});
    }
    return true;
}

// Solves one component and all that it falls into. False if it ended early.
bool Worker::solve(Task& task, Component first) {
    stack.assign(1, first);
    while (!stack.empty()) {
        Component component = stack.back();
        stack.pop_back();
        ++components;
        prepare(task, component);
        if (component.size() > 1) {
            tree_push(task.state, component);
            if (!waves.run(task.state, component, pulse)) return false;
            if (!paths.run(task.state, component, pulse)) return false;
            if (split(task, component)) continue;
        }
        finish(task, component);
        if (pulse.beat(static_cast<unsigned>(8 * component.size()))) return false;
    }
    return true;
}

// Cuts the edges that are saturated and across which the start jumps.
void guess_cuts(Task& task) {
    const double jump = getenv("JUMP")?atof(getenv("JUMP")):1e-4, closeness = getenv("CLOSE")?atof(getenv("CLOSE")):1e-6;
    FlowState& state = task.state;
    FlowNetwork& network = state.network;
    const Vertex n = network.n_vertices();
    double low = infinity, high = -infinity;
    for (Vertex v = 0; v < n; ++v) {
        double& r = task.u[at(v)];
        r = task.derivative(v, task.lowest) == task.derivative(v, task.highest)
                ? std::numeric_limits<double>::quiet_NaN()  // no data: no opinion
                : task.minimizer(v, state.e(v));
        if (r < low) low = r;
        if (r > high) high = r;
    }
    const double least = jump * (high - low);
    for (Vertex v = 0; v < n; ++v)
        for (ArcIndex a = network.begin(v); a < network.end(v); ++a) {
            const Arc& arc = network[a];
            if (arc.closed() || !(task.u[at(v)] - task.u[at(arc.to)] > least)) continue;
            if (arc.residual > closeness * network[arc.reverse].residual) continue;
            const Vertex w = arc.to;
            const double rest = network.cut(a);
            state.e(v) += rest;
            state.e(w) -= rest;
        }
}

}  // namespace

ExactFinish::ExactFinish(const EdgeList& graph, std::span<const double> weights)
    : state_(FlowNetwork(graph, weights)),
      u_(state_.n()),
      largest_weight_(weights.empty() ? 0.0 : *std::max_element(weights.begin(), weights.end())) {}

ExactFinish::~ExactFinish() = default;

ExactFinish::End ExactFinish::solve(const SmoothTerm& term, std::size_t channel,
                                    std::span<double> x, std::span<double> u, Watch& watch,
                                    int n_threads) {
    FlowNetwork& network = state_.network;
    const Vertex n = network.n_vertices();
    stats_ = {};
    if (n == 0) return End::exact;
    Task task{term, channel, state_, u_};

    // No flow exceeds the sum of what the vertices can send: larger weights are as good as this.
    task.lowest = infinity;
    task.highest = -infinity;
    for (Vertex v = 0; v < n; ++v) {
        const double m = task.minimizer(v, 0.0);
        task.lowest = std::min(task.lowest, m);
        task.highest = std::max(task.highest, m);
    }
    double bound = 0.0;
    for (Vertex v = 0; v < n; ++v)
        bound += std::max(std::abs(task.derivative(v, task.lowest)),
                          std::abs(task.derivative(v, task.highest)));
    if (!(bound < infinity)) bound = std::numeric_limits<double>::max();
    network.load(x, bound);
    network.outflow(state_.excess);
    task.capacity_tolerance = 1e-15 * std::min(largest_weight_, bound);
    guess_cuts(task);

    std::fill(state_.side.begin(), state_.side.end(), Side::resting);
    std::atomic<bool> stop = false;
    std::vector<Worker> workers;
    const auto n_workers = at(std::max(1, n_threads));
    for (std::size_t i = 0; i < n_workers; ++i)
        workers.emplace_back(i == 0 ? &watch : nullptr, stop);

    const double flip = 1e-13 * std::max(std::abs(task.lowest), std::abs(task.highest));
    std::vector<Vertex> dirty(at(n));
    for (Vertex v = 0; v < n; ++v) dirty[at(v)] = v;
    std::vector<Component> components;
    constexpr int most_rounds = 60;
    End end = End::exact;
    while (!dirty.empty()) {
        if (++stats_.rounds > most_rounds) {
            if (stats_.fallback) {
                end = End::stalled;
                break;
            }
            stats_.fallback = true;
            network.open_all();
            dirty.resize(at(n));
            for (Vertex v = 0; v < n; ++v) dirty[at(v)] = v;
        }
        components.clear();
        std::size_t last = 0;
        for (const Vertex v : dirty) {
            if (state_.at(v) != Side::resting) continue;
            const std::size_t first = last;
            last = gather_component(state_, v, first, workers[0].narrow);
            components.push_back({first, last});
            for (std::size_t i = first; i < last; ++i) network.remember(state_.order[i]);
        }
        for (const Component& component : components)
            if (!workers[0].solve(task, component)) {
                end = End::expired;
                break;
            }
        if (end == End::expired) break;
        dirty.clear();
        for (std::size_t i = 0; i < last; ++i) {
            const Vertex v = state_.order[i];
            for (ArcIndex a = network.begin(v); a < network.end(v); ++a) {
                const Arc& arc = network[a];
                if (!arc.closed()) continue;
                // The saturated arc leaves the high side.
                const double drop =
                    arc.residual == 0.0 ? u_[at(v)] - u_[at(arc.to)] : u_[at(arc.to)] - u_[at(v)];
                if (drop >= -flip) continue;
                dirty.push_back(v);
                dirty.push_back(arc.to);
                network.open(a);
                ++stats_.merges;
            }
        }
    }
    for (const Worker& worker : workers) {
        stats_.components += worker.components;
        stats_.splits += worker.splits;
        stats_.paths += worker.paths.n_paths;
        stats_.path_arcs += worker.paths.path_arcs;
        stats_.waves += worker.waves.n_waves;
    }
    network.store(x);
    for (Vertex v = 0; v < n; ++v) u[at(network.original(v))] = u_[at(v)];
    return end;
}

}  // namespace graphtv

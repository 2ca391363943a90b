#include "solver/flow/exact_finish.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "parallel/parallel_for.hpp"
#include "solver/flow/components.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

ExactFinish::ExactFinish(const EdgeList& graph, std::span<const double> weights, Watch& watch)
    : state_(UndirectedNetwork(graph, weights, watch)),
      u_(state_.n()),
      largest_weight_(weights.empty() ? 0.0 : *std::max_element(weights.begin(), weights.end())) {
    borders_.reserve(state_.n() + 1);  // unused pages are never touched
}

ExactFinish::End ExactFinish::solve(const SlopedTerm& term, std::size_t channel,
                                    std::span<double> p, std::span<double> u, Watch& watch,
                                    int n_threads, double allowance,
                                    std::span<const Rounded> start) {
    stats_ = {};
    const VertexLoss loss(term, channel, state_.network);
    FlowTask task{state_, loss, u_, allowance};
    std::atomic<bool> stop = false;
    std::vector<ComponentSolver> solvers;
    for (int i = 0; i < std::max(1, n_threads); ++i)
        solvers.emplace_back(i == 0 ? &watch : nullptr, stop);

    WorkBudget budget(&watch, stop);  // for passes over all vertices; their work is not counted

    if (!load(task, p, start, watch)) return End::expired;
    if (!guess_cuts(task, budget)) {
        state_.network.hand_back_start(n_threads);
        hand_over(p, n_threads);
        return End::expired;
    }
    n_open_ = state_.n();
    n_settled_ = 0;
    callers_ = solvers.data();
    bool finished = true;
    // Rounding may leave a component unbalanced, which shows when its outflow is recomputed.
    constexpr int most_attempts = 4;
    for (int attempt = 0; finished && (attempt == 0 || is_dirty()) && attempt < most_attempts;
         ++attempt) {
        finished = run_rounds(task, solvers, n_threads, budget) && settle(task, budget);
    }
    callers_ = nullptr;
    for (const ComponentSolver& solver : solvers) {
        stats_.components += solver.n_components;
        stats_.splits += solver.n_splits;
        stats_.paths += solver.n_paths();
        stats_.path_arcs += solver.path_arcs();
        stats_.level_pushes += solver.n_level_pushes();
        stats_.work += solver.work();
    }
    if (!finished) {
        // Partial flows push excess against future cuts. The start is closer to the optimum, so
        // return it.
        state_.network.hand_back_start(n_threads);
        hand_over(p, n_threads);
        const bool is_exhausted = std::ranges::any_of(solvers, &ComponentSolver::is_exhausted);
        return is_exhausted ? End::exhausted : End::expired;
    }
    state_.network.hand_back(n_threads);
    hand_over(p, n_threads);
    for_shards(u.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t v = first; v < last; ++v)
            u[at(state_.network.original(static_cast<Vertex>(v)))] = u_[v];
    });
    return is_dirty() ? End::stalled : End::exact;
}

// Converts flows to p.
void ExactFinish::hand_over(std::span<double> x, int n_threads) const {
    for_shards(x.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t e = first; e < last; ++e) {
            const double w = state_.network.weight(e);
            x[e] = w > 0.0 ? std::clamp(x[e] / w, -1.0, 1.0) : 0.0;
        }
    });
}

bool ExactFinish::load(FlowTask& task, std::span<double> p, std::span<const Rounded> start,
                       Watch& watch) {
    // No flow exceeds the sum of what the vertices can send, so larger weights are capped at it.
    const Interval range = task.loss.domain();
    double bound = 0.0;
    const bool bounded = for_watched(
        state_.n(), [&] { return watch.expired(); },
        [&](std::size_t i) {
            const auto v = static_cast<Vertex>(i);
            bound += std::max(std::abs(task.loss.slopes(v, range.lower).lower),
                              std::abs(task.loss.slopes(v, range.upper).upper));
        });
    if (!bounded) return false;
    if (!(bound < infinity)) bound = std::numeric_limits<double>::max();
    // Convert p to flows, in place.
    std::size_t n_flows = 0;
    if (start.empty()) {
        start_.resize(p.size());
        start = start_;
    }
    const bool is_lent = start.data() != start_.data();
    const bool taken = for_watched(
                           p.size(), [&] { return watch.expired(); },
                           [&](std::size_t e) {
                               if (!is_lent) start_[e] = rounded(p[e]);
                               p[e] *= state_.network.weight(e);
                               ++n_flows;
                           }) &&
                       state_.network.take(p, start, bound, state_.excess, watch);
    if (!taken) {
        hand_over(p.first(n_flows), 1);
        return false;
    }
    task.largest_capacity = std::min(largest_weight_, bound);
    std::fill(state_.side.begin(), state_.side.end(), Side::resting);
    return true;
}

// Cuts the edges that are saturated and at which the start jumps. The values of a component that
// is final at the start are equal up to rounding, so only the other components are dirty.
bool ExactFinish::guess_cuts(FlowTask& task, WorkBudget& budget) {
    constexpr double jump = 1e-4, closeness = 1e-6, rounding = 1e-13;
    UndirectedNetwork& network = state_.network;
    const auto ends = [&] { return budget.check_watch(); };
    double low = infinity, high = -infinity;
    bool has_flat = false;
    const bool valued = for_watched(state_.n(), ends, [&](std::size_t i) {
        const auto v = static_cast<Vertex>(i);
        double& value = u_[i];
        if (task.loss.is_flat(v)) {
            value = std::numeric_limits<double>::quiet_NaN();  // no data
            has_flat = true;
            return;
        }
        value = task.loss.minimizer(v, state_.e(v));
        low = std::min(low, value);
        high = std::max(high, value);
    });
    if (!valued) return false;
    // Values say nothing about balance where there is no data, or where the loss has kinks.
    all_dirty_ = has_flat || task.loss.has_kinks();
    dirty_.clear();
    const double least = jump * (high - low), noise = rounding * (high - low),
                 flow_noise = rounding * task.largest_capacity;
    return for_watched(state_.n(), ends, [&](std::size_t i) {
        const auto v = static_cast<Vertex>(i);
        for (const auto [w, arc] : network[v]) {
            if (!(u_[at(v)] - u_[at(w)] > noise) || network.is_closed(arc)) continue;
            const bool is_cut =
                (u_[at(v)] - u_[at(w)] > least) &
                (network.residual(arc) <= closeness * network.residual(reverse(arc)));
            const double pushed = is_cut ? network.cut(arc) : 0.0;
            state_.e(v) += pushed;
            state_.e(w) -= pushed;
            if ((!is_cut || pushed > flow_noise) && !all_dirty_) {
                dirty_.push_back(v);
                dirty_.push_back(w);
            }
        }
    });
}

void ExactFinish::mark_all() {
    dirty_.clear();
    all_dirty_ = state_.n() > 0;
}

// Collects the components of the dirty vertices, one after another, in FlowState::order.
bool ExactFinish::gather_dirty(WorkBudget& budget) {
    borders_.assign(1, 0);
    bool ended = false;
    const auto ends = [&] { return ended || budget.check_watch(); };
    return for_watched(all_dirty_ ? state_.n() : dirty_.size(), ends,
                       [&](std::size_t i) {
                           const Vertex v = all_dirty_ ? static_cast<Vertex>(i) : dirty_[i];
                           if (ended || state_.at(v) != Side::resting) return;
                           const auto end =
                               gather_component(state_, v, at(borders_.back()), budget);
                           ended = !end;
                           if (end) borders_.push_back(static_cast<Vertex>(*end));
                       }) &&
           !ended;
}

// Solves large components on the caller's thread, which alone can check the watch, and the others
// on all threads.
bool ExactFinish::solve_dirty(FlowTask& task, std::vector<ComponentSolver>& solvers, int n_threads,
                              WorkBudget& budget) {
    constexpr std::size_t large = 1 << 17, vertices_per_batch = 1 << 12;
    n_open_ = at(borders_.back());
    n_settled_ = 0;
    std::vector<std::size_t> batches;
    std::size_t filled = vertices_per_batch;
    for (std::size_t i = 0; i < n_components(); ++i) {
        if (component(i).size() >= large) {
            if (!solvers[0].solve(task, component(i))) return false;
            solvers[0].n_settled = 0;
            n_settled_ += component(i).size();
            continue;
        }
        if (filled >= vertices_per_batch) {
            batches.push_back(i);
            filled = 0;
        }
        filled += component(i).size();
    }
    batches.push_back(n_components());
    std::atomic<bool> finished = true;
    const auto solve_batch = [&](int batch, int worker) {
        std::size_t n_solved = 0;
        for (std::size_t i = batches[at(batch)]; i < batches[at(batch) + 1]; ++i) {
            if (component(i).size() >= large || !finished) continue;
            if (!solvers[at(worker)].solve(task, component(i))) finished = false;
            n_solved += component(i).size();
        }
        solvers[at(worker)].n_settled = 0;
        n_settled_ += n_solved;
    };
    parallel_for(static_cast<int>(batches.size()) - 1, n_threads, solve_batch,
                 [&] { budget.check_watch(); });
    return finished;
}

// Opens the cut edges of the components just solved whose low side is above their high side.
bool ExactFinish::open_flips(double tolerance, WorkBudget& budget) {
    UndirectedNetwork& network = state_.network;
    dirty_.clear();
    all_dirty_ = false;
    return for_watched(
        at(borders_.back()), [&] { return budget.check_watch(); },
        [&](std::size_t i) {
            const Vertex v = state_.order[i];
            for (const auto [w, arc] : network[v]) {
                // One rare branch instead of two that cannot be predicted.
                const double drop = network.signed_as(arc, u_[at(v)] - u_[at(w)]);
                const bool is_right = (drop >= -tolerance) | !network.is_closed(arc);
                if (is_right || !(network.capacity(arc) > 0.0)) continue;  // or has no low side
                dirty_.push_back(v);
                dirty_.push_back(w);
                network.open(arc);
                ++stats_.merges;
            }
        });
}

// Runs rounds until all guessed cuts are correct. Returns false if it was ended early.
bool ExactFinish::run_rounds(FlowTask& task, std::vector<ComponentSolver>& solvers, int n_threads,
                             WorkBudget& budget) {
    const Interval range = task.loss.domain();
    const double size = std::max(std::abs(range.lower), std::abs(range.upper));
    const double flip = size < infinity ? 1e-13 * size : 0.0;
    for (int round = 0; is_dirty() && round < most_guesses + 20; ++round) {
        if (round == most_guesses) {
            stats_.fallback = true;
            state_.network.open_all();
            mark_all();
        }
        ++stats_.rounds;
        if (!gather_dirty(budget)) return false;
        if (!solve_dirty(task, solvers, n_threads, budget)) return false;
        if (!open_flips(flip, budget)) return false;
    }
    return true;
}

// The value of a component. If all values are optimal because there is no data, keeps the current
// one.
double ExactFinish::settled_value(const FlowTask& task, const Component& component, double slope) {
    const auto vertices = component.vertices(state_);
    const double m = task.loss.minimizer(vertices, slope, component.spare(state_)),
                 now = u_[at(vertices[0])];
    if (std::abs(m - now) <= 1e-9 * std::abs(m)) return m;
    Interval total{slope, slope};
    for (const Vertex v : vertices) {
        if (u_[at(v)] != now) return m;
        const Interval slopes = task.loss.slopes(v, now);
        total.lower += slopes.lower;
        total.upper += slopes.upper;
    }
    return std::abs(total.nearest_to_zero()) <= 1e-13 * task.largest_capacity ? now : m;
}

// Whether the values match the data exactly. A zero flow is then better than flows that nearly
// cancel: where the objective is 0, the gap must be 0.
bool ExactFinish::asks_for_no_flow(const FlowTask& task, std::span<const Vertex> vertices, double m,
                                   double noise) const {
    const UndirectedNetwork& network = state_.network;
    for (const Vertex v : vertices) {
        if (std::abs(task.loss.slopes(v, m).nearest_to_zero()) > noise) return false;
        for (const auto [to, arc] : network[v])
            if (network.is_closed(arc) && network.capacity(arc) > 0.0) return false;
    }
    return true;
}

// Recomputes the values from the cut edges alone. Components whose values rounding has put in the
// wrong order get a common value. The outflow of each vertex is recomputed, too. If it leaves both
// excess and deficit in a component, rounding errors have grown too large, and the component is
// marked dirty.
bool ExactFinish::settle(FlowTask& task, WorkBudget& budget) {
    constexpr double tolerance = 1e-10;
    std::vector<Vertex> unbalanced;
    std::size_t since_look = 0;
    const auto ends = [&] {
        if (since_look < between_looks) return false;
        since_look = 0;
        return budget.check_watch();
    };
    mark_all();
    while (is_dirty()) {
        if (!gather_dirty(budget)) return false;
        for (std::size_t i = 0; i < n_components(); ++i) {
            const auto vertices = component(i).vertices(state_);
            CompensatedSum slope;
            const bool summed = for_watched(vertices.size(), ends, [&](std::size_t k) {
                const Vertex v = vertices[k];
                const auto [total, cut] = state_.network.outflows(v);
                slope.add(cut);
                state_.e(v) = total;
                state_.at(v) = Side::resting;
                ++since_look;
            });
            if (!summed) return false;
            const double m = settled_value(task, component(i), slope.value());
            double scale = 0.0, most = 0.0, least = 0.0, noise = 0.0;
            for (const Vertex v : vertices) {
                const Interval slopes = task.loss.slopes(v, m);
                const double y = state_.e(v);
                scale =
                    std::max({scale, std::abs(slopes.lower), std::abs(slopes.upper), std::abs(y)});
                most = std::max(most, -slopes.upper - y);
                least = std::min(least, -slopes.lower - y);
                noise = std::max(noise, task.loss.rounding(v, m));
                u_[at(v)] = m;
            }
            if (std::min(most, -least) > tolerance * std::max(scale, task.largest_capacity))
                unbalanced.push_back(vertices[0]);
            else if (slope.value() == 0.0 && asks_for_no_flow(task, vertices, m, noise))
                for (const Vertex v : vertices) state_.network.calm(v);
        }
        if (!open_flips(0.0, budget)) return false;
    }
    dirty_.swap(unbalanced);
    return true;
}

double ExactFinish::settled() const {
    if (callers_ == nullptr || state_.n() == 0) return 0.0;
    const std::size_t n_settled = n_settled_ + callers_->n_settled;
    const auto open = static_cast<double>(n_open_ - std::min(n_open_, n_settled));
    return 1.0 - open / static_cast<double>(state_.n());
}

std::size_t ExactFinish::n_bytes() const {
    return state_.n_bytes() + u_.capacity() * sizeof(double) + start_.capacity() * sizeof(Rounded) +
           dirty_.capacity() * sizeof(Vertex) + borders_.capacity() * sizeof(Vertex);
}

}  // namespace graphtv

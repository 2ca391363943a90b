// The exact finish, checked by the duality gap alone: a flow |x_e| ≤ ω_e and values u. The gap is a
// sum of nonnegative parts: ω|u_i - u_j| - x(u_i - u_j) per edge, and one part per vertex.
#include <cmath>
#include <optional>

#include "check.hpp"
#include "instances.hpp"
#include "solver/descent/edge_descent.hpp"
#include "solver/flow/exact_finish.hpp"
#include "terms/huber.hpp"
#include "terms/logistic.hpp"
#include "terms/poisson.hpp"
#include "terms/squared.hpp"
#include "terms/sum.hpp"

namespace graphtv::tests {
namespace {

struct Answer {
    std::vector<double> x, u;
    ExactFinish::End end;

    bool operator==(const Answer&) const = default;
};

Answer finish(const EdgeList& graph, const std::vector<double>& w, const SmoothTerm& term,
              std::vector<double> start, int n_threads = 1, std::size_t channel = 0) {
    Watch watch;
    ExactFinish solver(graph, w, watch);
    Answer answer{std::move(start), std::vector<double>(at(graph.n_vertices), 1e77), {}};
    for (std::size_t e = 0; e < w.size(); ++e) answer.x[e] = w[e] > 0.0 ? answer.x[e] / w[e] : 0.0;
    answer.end = solver.solve(term, channel, answer.x, answer.u, watch, n_threads);
    for (std::size_t e = 0; e < w.size(); ++e) answer.x[e] *= w[e];
    return answer;
}

// Kᵀp by vertex. Checks |x| ≤ ω, and sums the penalty and the edges' part of the gap.
std::vector<CompensatedSum> outflow(const EdgeList& graph, const std::vector<double>& w,
                                    const Answer& answer, CompensatedSum& penalty,
                                    CompensatedSum& gap, const std::string& context) {
    std::vector<CompensatedSum> y(at(graph.n_vertices));
    for (std::size_t e = 0; e < w.size(); ++e) {
        const double x = answer.x[e];
        if (!check(std::abs(x) <= w[e], context)) break;
        const auto [i, j] = graph.edges[e];
        const double drop = answer.u[at(i)] - answer.u[at(j)];
        y[at(i)].add(x);
        y[at(j)].add(-x);
        if (drop == 0.0) continue;
        penalty.add(w[e] * std::abs(drop));
        gap.add((drop > 0.0 ? w[e] - x : w[e] + x) * std::abs(drop));
    }
    return y;
}

void check_squared(const EdgeList& graph, const std::vector<double>& w,
                   const std::vector<double>& f, const std::vector<double>& c, const Answer& answer,
                   const std::string& context) {
    check(answer.end == ExactFinish::End::exact, context + "end");
    CompensatedSum primal, gap;
    const auto y = outflow(graph, w, answer, primal, gap, context);
    const auto [low, high] = std::minmax_element(f.begin(), f.end());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double distance = answer.u[i] - f[i], q = y[i].value();
        if (c[i] > 0.0) {
            const double rest = distance + q / c[i];
            primal.add(0.5 * c[i] * distance * distance);
            gap.add(0.5 * c[i] * rest * rest);
        } else {
            gap.add(std::abs(q) * (*high - *low));
        }
    }
    // The error of the primal value that the rounding of f alone can cause.
    const double largest = f.empty() ? 0.0 : std::max(std::abs(*low), std::abs(*high));
    const double range = f.empty() ? 0.0 : *high - *low, n = static_cast<double>(f.size());
    // At a vertex without data, the last bit of its flow is multiplied by the whole range.
    const bool has_masks = std::ranges::find(c, 0.0) != c.end();
    const double dust =
        1e-28 * largest * largest * n + (has_masks ? 1e-15 * range * range * n : 0.0);
    check(gap.value() <= 1e-12 * primal.value() + dust,
          context + "gap " + std::to_string(gap.value() / primal.value() * 1e12) + "e-12 ");
}

// A flow after a few iterations of descent over edges from zero. Missing data gets a small weight.
std::vector<double> descended(const EdgeList& graph, std::span<const double> w,
                              std::span<const double> f, std::vector<double> c, int n_iterations) {
    for (double& value : c) value = std::max(value, 1e-3);
    EdgeDescent descent(graph, w, f, c);
    Watch watch;
    for (int i = 0; i < n_iterations; ++i) descent.step(watch);
    std::vector<double> x(w.size());
    descent.dual(x);
    for (std::size_t e = 0; e < x.size(); ++e) x[e] *= w[e];
    return x;
}

std::vector<double> random_start(const std::vector<double>& w, Random& random) {
    std::vector<double> x(w.size());
    for (std::size_t e = 0; e < w.size(); ++e)
        x[e] = w[e] * std::clamp(4.0 * uniform(random) - 2.0, -1.0, 1.0);
    return x;
}

void squared_loss_is_exact() {
    Random random(1);
    for (int trial = 0; trial < 1'500; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 0,
                                                   trial % 50 == 0  ? 3'000
                                                   : trial % 5 == 0 ? 300
                                                                    : 12));
        const auto graph = random_graph(n, static_cast<int>(integer(random, 0, 4 * n)), random);
        const auto f = signal(all_signals[random() % all_signals.size()], at(n), random);
        const auto kind = all_weights[random() % all_weights.size()];
        const auto w = weights(kind, graph.edges.size(), random);
        std::vector<double> c(at(n), 1.0);
        if (trial % 3 == 1)
            for (double& value : c) value = 0.1 + uniform(random);
        if (trial % 3 == 2 && kind != Weights::absurd)  // masks
            for (double& value : c) value = random() % 3 == 0 ? 0.0 : 1.0;
        std::vector<double> x(w.size(), 0.0);
        if (trial % 4 == 1) x = random_start(w, random);
        if (trial % 4 >= 2 && n > 0) {
            x = descended(graph.view(), w, f, c, 10);
        }
        const auto context = describe(trial, n, int(kind));
        const SquaredTerm term({at(n), 1}, f, c);
        const auto answer = finish(graph.view(), w, term, std::move(x));
        check_squared(graph.view(), w, f, c, answer, context);
        // A start at the optimum stays there.
        const auto again = finish(graph.view(), w, term, answer.x);
        check_squared(graph.view(), w, f, c, again, context + "again ");
    }
}

Instance grid(Vertex rows, Vertex columns) {
    Instance graph{rows * columns, {}};
    for (Vertex i = 0; i < rows; ++i)
        for (Vertex j = 0; j < columns; ++j) {
            const Vertex v = i * columns + j;
            if (j + 1 < columns) graph.edges.push_back({v, v + 1});
            if (i + 1 < rows) graph.edges.push_back({v, v + columns});
        }
    return graph;
}

// Integers on a grid: ties everywhere, so that a component and its halves are equally good.
void ties_are_exact() {
    Random random(2);
    for (int trial = 0; trial < 60; ++trial) {
        const auto graph = grid(static_cast<Vertex>(integer(random, 1, 40)),
                                static_cast<Vertex>(integer(random, 1, 40)));
        std::vector<double> f(at(graph.n_vertices)), c(f.size(), 1.0);
        for (double& value : f) value = static_cast<double>(integer(random, 0, 3));
        const std::vector<double> w(graph.edges.size(), trial % 2 == 0 ? 0.5 : 1.0);
        const SquaredTerm term({f.size(), 1}, f, c);
        const auto answer = finish(graph.view(), w, term, std::vector<double>(w.size(), 0.0));
        check_squared(graph.view(), w, f, c, answer, describe(trial));
    }
}

// Large enough for several batches of components and for renumbered vertices.
void threads_do_not_change_a_bit() {
    Random random(3);
    for (const bool scattered : {false, true}) {
        auto graph = grid(150, 140);
        if (scattered) graph = scrambled(std::move(graph), random);
        const auto f = signal(Signal::noise, at(graph.n_vertices), random);
        const std::vector<double> w(graph.edges.size(), 0.15), c(f.size(), 1.0);
        const auto x = descended(graph.view(), w, f, c, 6);
        const SquaredTerm term({f.size(), 1}, f, c);
        const auto one = finish(graph.view(), w, term, x);
        check_squared(graph.view(), w, f, c, one, describe(int(scattered)));
        for (const int n_threads : {2, 3, 8})
            check(finish(graph.view(), w, term, x, n_threads) == one, describe(n_threads));
    }
}

void check_smooth(const EdgeList& graph, const std::vector<double>& w, const SmoothTerm& term,
                  const Answer& answer, const std::string& context) {
    check(answer.end == ExactFinish::End::exact, context + "end");
    CompensatedSum penalty, gap;
    const auto y = outflow(graph, w, answer, penalty, gap, context);
    std::vector<double> s(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) s[i] = -y[i].value();
    const double primal = term.value(answer.u) + penalty.value(), dual = -term.conjugate(s);
    check(std::abs(primal - dual) <= 1e-12 * std::max({std::abs(primal), std::abs(dual), 1.0}),
          context + "gap " + std::to_string((primal - dual) * 1e12) + "e-12 ");
}

void smooth_losses_are_exact() {
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 1, trial % 10 == 0 ? 400 : 30));
        const auto graph = random_graph(n, static_cast<int>(integer(random, 0, 3 * n)), random);
        auto w = weights(Weights::uniform, graph.edges.size(), random);
        for (double& value : w) value = std::min(value, 3.0);
        std::vector<double> c(at(n));
        for (double& value : c) value = random() % 4 == 0 ? 0.0 : 0.2 + uniform(random);
        const auto x = random_start(w, random);
        const TermShape shape{at(n), 1};
        const auto f = signal(Signal::noise, at(n), random);
        const HuberTerm huber(shape, f, c, 0.3);
        check_smooth(graph.view(), w, huber, finish(graph.view(), w, huber, x),
                     describe(trial, n) + "huber ");
        std::vector<double> labels(at(n));
        for (double& value : labels) value = random() % 2 == 0 ? 1.0 : -1.0;
        const LogisticTerm logistic(shape, labels, c, {-8.0, 8.0});
        check_smooth(graph.view(), w, logistic, finish(graph.view(), w, logistic, x),
                     describe(trial, n) + "logistic ");
        std::vector<double> counts(at(n));
        for (double& value : counts) value = static_cast<double>(integer(random, 1, 9));
        const PoissonTerm poisson(shape, counts, c);
        check_smooth(graph.view(), w, poisson, finish(graph.view(), w, poisson, x),
                     describe(trial, n) + "poisson ");
    }
}

// The second of two channels, with renumbered vertices.
void channels_are_told_apart() {
    Random random(5);
    const auto graph = scrambled(grid(80, 70), random);
    const auto f = signal(Signal::noise, 2 * at(graph.n_vertices), random);
    const std::vector<double> w(graph.edges.size(), 0.3), one(1, 1.0);
    const std::vector<double> second(f.begin() + graph.n_vertices, f.end());
    const SquaredTerm both({second.size(), 2}, f, one), alone({second.size(), 1}, second, one);
    const std::vector<double> x(w.size(), 0.0);
    check(finish(graph.view(), w, both, x, 1, 1) == finish(graph.view(), w, alone, x));
}

// If the guessed cuts are abandoned at once or after some rounds, the plain scheme is exact as
// well.
void fallback_is_exact() {
    Random random(9);
    int n_fallbacks = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 2, trial % 5 == 0 ? 1'000 : 60));
        const auto graph = random_graph(n, static_cast<int>(integer(random, 1, 4 * n)), random);
        const auto f = signal(all_signals[random() % all_signals.size()], at(n), random);
        const auto w = weights(Weights::uniform, graph.edges.size(), random);
        std::vector<double> c(at(n), 1.0);
        if (trial % 2 == 1)
            for (double& value : c) value = 0.1 + uniform(random);
        const SquaredTerm term({at(n), 1}, f, c);
        Watch watch;
        ExactFinish solver(graph.view(), w, watch);
        solver.most_guesses = trial % 3;
        Answer answer{random_start(w, random), std::vector<double>(at(n)), {}};
        for (std::size_t e = 0; e < w.size(); ++e) answer.x[e] /= w[e];
        answer.end = solver.solve(term, 0, answer.x, answer.u, watch, 1);
        for (std::size_t e = 0; e < w.size(); ++e) answer.x[e] *= w[e];
        n_fallbacks += solver.stats().fallback;
        check_squared(graph.view(), w, f, c, answer, describe(trial, n, solver.most_guesses));
    }
    check(n_fallbacks > 150, std::to_string(n_fallbacks) + " fallbacks");
}

// Whenever the run is ended early, the flow is feasible and every u is in the range of the data.
void early_ends_leave_a_flow() {
    Random random(6);
    const auto graph = grid(200, 200);
    const auto f = signal(Signal::noise, at(graph.n_vertices), random);
    const std::vector<double> w(graph.edges.size(), 0.5), one(1, 1.0);
    const SquaredTerm term({f.size(), 1}, f, one);
    Watch patient;
    ExactFinish solver(graph.view(), w, patient);
    bool some_expired = false, some_finished = false;
    for (int polls = 0; polls < 40 && !some_finished; ++polls) {
        std::vector<double> p(w.size(), 0.0), u(f.begin(), f.end());
        Watch watch(0.0005 * (1 << polls), {});
        const auto end = solver.solve(term, 0, p, u, watch, 1);
        some_expired = some_expired || end == ExactFinish::End::expired;
        some_finished = some_finished || end == ExactFinish::End::exact;
        for (const double value : p)
            if (!check(std::abs(value) <= 1.0)) break;
        for (const double value : u)
            if (!check(std::abs(value) <= 10.0, describe(value))) break;
    }
    check(some_expired && some_finished);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    squared_loss_is_exact();
    ties_are_exact();
    threads_do_not_change_a_bit();
    smooth_losses_are_exact();
    channels_are_told_apart();
    fallback_is_exact();
    early_ends_leave_a_flow();
    return verdict();
}

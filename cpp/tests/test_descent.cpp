// Descent over forests and over edges: every iterate is feasible, the dual objective never
// decreases, the optimum does not depend on the layout of the forests, and no bit depends on the
// number of threads.
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "counting_new.hpp"
#include "decomposition/linear_forests.hpp"
#include "decomposition/nested_forests.hpp"
#include "instances.hpp"
#include "solver/descent/block_descent.hpp"
#include "solver/descent/edge_descent.hpp"
#include "solver/forests.hpp"

namespace graphtv::tests {
namespace {

// The tolerance for the consistency of u and p: changes, which are large at first, have single
// precision.
constexpr double early = 1e-6;

struct Problem {
    Instance graph;
    std::vector<double> weights, f, c;
    std::vector<std::int32_t> labels;

    std::int32_t n_forests() const {
        return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
    }
    Forests forests(double delta = 0.0) const {
        return Forests(graph.view(), weights, labels, n_forests(), {delta}, c);
    }
    double vertex_weight(std::size_t i) const { return c.empty() ? 1.0 : c[i]; }

    double primal(std::span<const double> u) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < u.size(); ++i)
            sum += 0.5 * vertex_weight(i) * (u[i] - f[i]) * (u[i] - f[i]);
        for (std::size_t e = 0; e < weights.size(); ++e)
            sum += weights[e] * std::abs(u[at(graph.edges[e].tail)] - u[at(graph.edges[e].head)]);
        return sum;
    }
    // f - C⁻¹Kᵀp
    std::vector<double> primal_of(std::span<const double> p) const {
        std::vector<double> u = f;
        for (std::size_t e = 0; e < weights.size(); ++e) {
            const auto tail = at(graph.edges[e].tail), head = at(graph.edges[e].head);
            u[tail] -= weights[e] * p[e] / vertex_weight(tail);
            u[head] += weights[e] * p[e] / vertex_weight(head);
        }
        return u;
    }
};

Instance grid(Vertex rows, Vertex columns) {
    Instance graph{rows * columns, {}};
    for (Vertex i = 0; i < rows; ++i)
        for (Vertex j = 0; j < columns; ++j) {
            if (i + 1 < rows) graph.edges.push_back({i * columns + j, (i + 1) * columns + j});
            if (j + 1 < columns) graph.edges.push_back({i * columns + j, i * columns + j + 1});
        }
    return graph;
}

enum class Kind { linear, nested, axes };

Problem problem(Instance graph, Kind kind, bool has_vertex_weights, Random& random) {
    Problem made{std::move(graph), {}, {}, {}, {}};
    const auto n = at(made.graph.n_vertices), m = made.graph.edges.size();
    made.weights = weights(Weights::uniform, m, random);
    made.f = signal(Signal::mixed, n, random);
    if (has_vertex_weights)
        for (std::size_t i = 0; i < n; ++i) made.c.push_back(0.1 + 3.0 * uniform(random));
    std::vector<EdgeIndex> order(m);
    std::iota(order.begin(), order.end(), 0);
    if (kind == Kind::linear) made.labels = first_fit_linear_forests(made.graph.view(), order);
    if (kind == Kind::nested) made.labels = nested_forests(made.graph.view(), order);
    if (kind == Kind::axes)
        for (const auto [tail, head] : made.graph.edges)
            made.labels.push_back(std::abs(head - tail) == 1 ? 1 : 0);
    return made;
}

std::vector<Problem> problems(Random& random) {
    std::vector<Problem> made;
    for (const bool has_vertex_weights : {false, true}) {
        made.push_back(
            problem(random_graph(400, 1200, random), Kind::linear, has_vertex_weights, random));
        made.push_back(
            problem(random_graph(300, 900, random), Kind::nested, has_vertex_weights, random));
        made.push_back(problem(grid(23, 31), Kind::axes, has_vertex_weights, random));
        made.push_back(problem(grid(150, 170), Kind::axes, has_vertex_weights, random));
    }
    return made;
}

void iterates_are_feasible_and_converge() {
    Random random(1);
    for (const auto& problem : problems(random)) {
        auto forests = problem.forests();
        BlockDescent descent(forests, problem.f, problem.c);
        Watch watch;
        std::vector<double> p(problem.weights.size());
        double last = descent.dual_value();
        for (int iteration = 0; iteration < 1500; ++iteration) {
            check(descent.step(watch, 1));
            const double dual = descent.dual_value();
            check(descent.restarted() || dual >= last - 1e-10 * std::abs(last));
            last = dual;
            if (iteration % 100 > 2) continue;
            descent.dual(p);
            for (const double value : p) check(std::abs(value) <= 1.0);
            const auto u = problem.primal_of(p);
            double worst = 0.0;
            for (std::size_t i = 0; i < u.size(); ++i)
                worst = std::max(worst, std::abs(u[i] - descent.u()[i]));
            check(worst < (iteration < 100 ? early : 1e-9), describe(iteration, worst));
        }
        const double gap = problem.primal(descent.u()) - last;
        check(gap >= -1e-9 * std::abs(last) && gap < 1e-6 * std::abs(last), describe(gap, last));

        // A start at the optimum stays there.
        descent.dual(p);
        BlockDescent again(forests, problem.f, problem.c);
        again.start_from(p);
        check(again.step(watch, 1));
        check(std::abs(again.dual_value() - last) < 1e-9 * std::abs(last));
    }
}

// Vertices of a grid in random order give forests without a lattice, and the same optimum.
void layouts_agree() {
    Random random(2);
    const auto on_grid = problem(grid(40, 30), Kind::axes, false, random);
    auto shuffled = on_grid;
    const auto name = permutation(on_grid.graph.n_vertices, random);
    for (auto& [tail, head] : shuffled.graph.edges) {
        tail = name[at(tail)];
        head = name[at(head)];
    }
    for (std::size_t i = 0; i < name.size(); ++i) shuffled.f[at(name[i])] = on_grid.f[i];
    auto lattice = on_grid.forests(), chains = shuffled.forests();
    check(lattice[0].is_lattice() && lattice[1].is_lattice());
    check(!chains[0].is_lattice() && chains[0].is_linear());
    BlockDescent first(lattice, on_grid.f, {}), second(chains, shuffled.f, {});
    Watch watch;
    for (int iteration = 0; iteration < 50; ++iteration) {
        check(first.step(watch, 1) && second.step(watch, 1));
        double worst = 0.0;
        for (std::size_t i = 0; i < name.size(); ++i)
            worst = std::max(worst, std::abs(first.u()[i] - second.u()[at(name[i])]));
        check(worst < (iteration < 10 ? early : 1e-9), describe(iteration, worst));
    }
}

void threads_change_nothing() {
    Random random(3);
    for (const auto& problem : problems(random)) {
        std::vector<double> expected;
        for (const int n_threads : {1, 2, 4, 8}) {
            auto forests = problem.forests();
            BlockDescent descent(forests, problem.f, problem.c);
            Watch watch;
            for (int iteration = 0; iteration < 12; ++iteration) descent.step(watch, n_threads);
            const std::vector<double> u(descent.u().begin(), descent.u().end());
            if (n_threads == 1) expected = u;
            check(u == expected, describe(n_threads));
        }
    }
}

void steps_take_no_memory() {
    Random random(4);
    for (const auto& problem : problems(random)) {
        auto forests = problem.forests();
        BlockDescent descent(forests, problem.f, problem.c);
        Watch watch;
        for (int iteration = 0; iteration < 3; ++iteration) descent.step(watch, 2);
        const int before = n_allocations;
        for (int iteration = 0; iteration < 40; ++iteration) descent.step(watch, 2);
        check(n_allocations == before, describe(n_allocations - before));
    }
}

// After an interrupt at any time, the point is feasible and consistent.
void interruptions_leave_a_certificate() {
    Random random(5);
    for (const auto& problem : problems(random))
        for (int patience = 0; patience < 6; ++patience) {
            auto forests = problem.forests();
            BlockDescent descent(forests, problem.f, problem.c);
            Watch calm;
            descent.step(calm, 1);
            descent.step(calm, 1);
            int polls = 0;
            while (true) {
                Watch watch(1e9, [&] { return polls++ >= patience; });
                // A watch polls at most every 20 ms; a new watch per step polls at once.
                if (!descent.step(watch, 1)) break;
            }
            std::vector<double> p(problem.weights.size());
            descent.dual(p);
            const auto u = problem.primal_of(p);
            for (std::size_t i = 0; i < u.size(); ++i)
                check(std::abs(u[i] - descent.u()[i]) < early);
        }
}

// If descent over edges is stopped during a sweep, u is consistent with p.
void edges_can_be_stopped() {
    Random random(11);
    const auto graph = random_graph(20000, 200000, random);
    std::vector<double> weights(graph.edges.size()), f(at(graph.n_vertices));
    for (auto& w : weights) w = uniform(random);
    for (auto& value : f) value = noise(random);
    for (int trial = 0; trial < 20; ++trial) {
        EdgeDescent edges(graph.view(), weights, f, {});
        Watch calm, watch(1e-4 * (1 + trial), {});
        check(edges.step(calm));
        while (edges.step(watch)) {
        }
        std::vector<double> p(weights.size()), u = f;
        edges.dual(p);
        for (std::size_t e = 0; e < p.size(); ++e) {
            u[at(graph.edges[e].tail)] -= weights[e] * p[e];
            u[at(graph.edges[e].head)] += weights[e] * p[e];
        }
        double worst = 0.0;
        for (std::size_t i = 0; i < u.size(); ++i)
            worst = std::max(worst, std::abs(u[i] - edges.u()[i]));
        check(worst < 1e-10, describe(trial, worst));
    }
}

// Descent over edges reaches the same optimum, and every iterate is a certificate.
void edges_agree_with_forests() {
    Random random(6);
    for (const auto& problem : problems(random)) {
        auto forests = problem.forests();
        BlockDescent blocks(forests, problem.f, problem.c);
        EdgeDescent edges(problem.graph.view(), problem.weights, problem.f, problem.c);
        Watch watch;
        std::vector<double> p(problem.weights.size());
        for (int iteration = 0; iteration < 2000; ++iteration) {
            check(edges.step(watch));
            if (iteration < 800) check(blocks.step(watch, 1));
            if (iteration % 500 > 2) continue;
            edges.dual(p);
            for (const double value : p) check(std::abs(value) <= 1.0);
            const auto u = problem.primal_of(p);
            for (std::size_t i = 0; i < u.size(); ++i) check(std::abs(u[i] - edges.u()[i]) < 1e-9);
        }
        check(std::abs(edges.dual_value() - blocks.dual_value()) <
              1e-4 * std::abs(blocks.dual_value()));
        const int before = n_allocations;
        for (int iteration = 0; iteration < 10; ++iteration) edges.step(watch);
        check(n_allocations == before);

        edges.dual(p);
        EdgeDescent again(problem.graph.view(), problem.weights, problem.f, problem.c);
        again.start_from(p);
        Watch over(0.0, {});
        check(!again.step(over));
        check(std::abs(again.dual_value() - edges.dual_value()) <
              1e-9 * std::abs(edges.dual_value()));
    }
}

void empty_things() {
    Forests none({0, {}}, {}, {}, 0);
    BlockDescent nothing(none, {}, {});
    Watch watch;
    check(nothing.step(watch, 4));
    const std::vector<double> f{1.0, 2.0};
    Forests no_edges({2, {}}, {}, {}, 0);
    BlockDescent isolated(no_edges, f, {});
    check(isolated.step(watch, 1) && isolated.u()[1] == 2.0 && isolated.dual_value() == 0.0);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    threads_change_nothing();
    interruptions_leave_a_certificate();
    empty_things();
    if constexpr (!under_thread_sanitizer) {  // single-threaded: nothing to test
        iterates_are_feasible_and_converge();
        layouts_agree();
        edges_can_be_stopped();
        edges_agree_with_forests();
        steps_take_no_memory();
    }
    return verdict();
}

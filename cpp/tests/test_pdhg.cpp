// PDHG on every preconditioner: the same bits for any number of threads, and no memory taken by a
// step after the first. The global operator new counts.
#include <array>
#include <memory>

#include "check.hpp"
#include "counting_new.hpp"
#include "instances.hpp"
#include "solver/pdhg/edge_dual.hpp"
#include "solver/pdhg/forest_dual.hpp"
#include "solver/pdhg/pdhg.hpp"
#include "terms/squared.hpp"

namespace graphtv::tests {
namespace {

using Scheme = PdhgOptions::Scheme;
enum class Kind { none, diagonal, linear, trees };

// Edge e of a path of trees goes to forest e % 2: a tree, cut in two forests.
struct Problem {
    Instance graph;
    std::vector<double> weights, signal;
    std::vector<std::int32_t> labels;

    Problem(Kind kind, std::size_t n_channels) {
        Random random(1);
        const Shape shape = kind == Kind::linear ? Shape::path : Shape::recursive;
        graph = tree(shape, 30'000, random);
        weights = scaled(tests::weights(Weights::uniform, graph.edges.size(), random), 0.1);
        for (double& weight : weights) weight += 0.01;
        const auto n = static_cast<std::size_t>(graph.n_vertices);
        signal = tests::signal(Signal::noise, n * n_channels, random);
        for (std::size_t e = 0; e < graph.edges.size(); ++e)
            labels.push_back(static_cast<std::int32_t>(random() % 2));
    }
};

struct Outcome {
    std::vector<double> u, p;
    Pdhg::Objectives values;
};

Outcome run(Kind kind, Scheme scheme, double delta, std::size_t n_channels, int n_threads) {
    const Problem problem(kind, n_channels);
    const EdgeList graph = problem.graph.view();
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const std::array one{1.0};
    const SquaredTerm data({n, n_channels}, problem.signal, one);
    PdhgOptions options;
    options.scheme = scheme;
    options.gamma = 0.5;
    options.n_threads = n_threads;
    Forests forests(graph, problem.weights, problem.labels, 2, delta);
    std::unique_ptr<DualVariable> dual;
    if (kind == Kind::none) {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::unscaled(graph, problem.weights, delta, n_channels, options.memory()));
    } else if (kind == Kind::diagonal) {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::diagonal(graph, problem.weights, delta, n_channels, options.memory(), 1.0));
    } else {
        dual = std::make_unique<ForestDual>(forests, delta, n_channels, options.memory());
    }
    Pdhg solver(graph, problem.weights, data, delta, std::move(dual), options);
    Watch watch;
    solver.step(watch);
    const int before = n_allocations;
    for (int iteration = 0; iteration < 12; ++iteration) check(solver.step(watch).completed);
    const int taken = n_allocations - before;
    check(taken == 0, describe(int(kind), int(scheme), delta, n_threads, taken));
    Outcome outcome{std::vector<double>(solver.u().begin(), solver.u().end()),
                    std::vector<double>(graph.edges.size() * n_channels), solver.evaluate()};
    solver.dual(outcome.p);
    check(std::ranges::all_of(outcome.p, [](double p) { return std::abs(p) <= 1.0; }));
    check(outcome.values.dual <= outcome.values.primal);
    return outcome;
}

void threads_change_no_bit(Kind kind, Scheme scheme, double delta, std::size_t n_channels) {
    const Outcome alone = run(kind, scheme, delta, n_channels, 1);
    const Outcome many = run(kind, scheme, delta, n_channels, 4);
    check(alone.u == many.u && alone.p == many.p, describe(int(kind), int(scheme), delta));
    check(alone.values.primal == many.values.primal && alone.values.dual == many.values.dual);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    for (const Kind kind : {Kind::none, Kind::diagonal, Kind::linear, Kind::trees}) {
        for (const Scheme scheme :
             {Scheme::fixed, Scheme::accelerated, Scheme::balanced, Scheme::restarted})
            threads_change_no_bit(kind, scheme, 0.0, 1);
        threads_change_no_bit(kind, Scheme::balanced, 0.1, 2);
    }
    return verdict();
}

// PDHG with every preconditioner: the same bits for any number of threads, and no allocation by a
// step after the first. The replaced global operator new counts allocations.
#include <array>
#include <memory>

#include "check.hpp"
#include "counting_new.hpp"
#include "instances.hpp"
#include "solver/pdhg/edge_dual.hpp"
#include "solver/pdhg/forest_dual.hpp"
#include "solver/pdhg/pdhg.hpp"
#include "terms/penalty.hpp"
#include "terms/squared.hpp"
#include "terms/sum.hpp"

namespace graphtv::tests {
namespace {

using Scheme = PdhgOptions::Scheme;
enum class Kind { none, diagonal, linear, trees };

// A penalty with groups: Σ_g ‖x_g‖ over pairs of consecutive edges, with all channels.
class PairPenalty final : public Penalty {
  public:
    PairPenalty(std::size_t n_edges, std::size_t n_channels) : n_channels_(n_channels) {
        for (std::size_t e = 0; e < n_edges; ++e) groups_.push_back(static_cast<int>(e / 2));
    }

    double value(const EdgeList& graph, std::span<const double> weights, std::span<const double> u,
                 int) const override {
        const auto n = at(graph.n_vertices), m = graph.edges.size();
        std::vector<double> x(m * n_channels_);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto [tail, head] = graph.edges[i % m];
            x[i] = weights[i % m] * (u[i / m * n + at(tail)] - u[i / m * n + at(head)]);
        }
        CompensatedSum total;
        for (const double norm : norms(x)) total.add(norm);
        return total.value();
    }
    double conjugate(std::span<const double> p, int) const override {
        const bool fits = std::ranges::all_of(norms(p), [](double norm) { return norm <= 1.0; });
        return fits ? 0.0 : std::numeric_limits<double>::infinity();
    }
    void project(std::span<double> p, int) const override {
        const auto size = norms(p);
        for (std::size_t i = 0; i < p.size(); ++i)
            p[i] /= std::max(1.0, size[group(i)] * (1.0 + 1e-15));
    }
    void prox_conjugate(std::span<const double> v, std::span<const double> steps,
                        std::span<double> out, int n_threads) const override {
        for (std::size_t e = 1; steps.size() > 1 && e < steps.size(); e += 2)
            check(steps[e] == steps[e - 1], "the edges of a group share their step");
        std::ranges::copy(v, out.begin());
        project(out, n_threads);
    }
    std::span<const std::int32_t> edge_groups() const override { return groups_; }

  private:
    std::size_t group(std::size_t i) const { return at(groups_[i % groups_.size()]); }
    std::vector<double> norms(std::span<const double> x) const {
        std::vector<double> norms(at(groups_.back()) + 1);
        for (std::size_t i = 0; i < x.size(); ++i) norms[group(i)] += x[i] * x[i];
        for (double& norm : norms) norm = std::sqrt(norm);
        return norms;
    }

    std::size_t n_channels_;
    std::vector<std::int32_t> groups_;
};

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

Outcome run(Kind kind, Scheme scheme, const Penalty& penalty, std::size_t n_channels,
            int n_threads) {
    const Problem problem(kind, n_channels);
    const EdgePenalty h = penalty.by_edge().value_or(EdgePenalty{});
    const EdgeList graph = problem.graph.view();
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const std::array one{1.0};
    const SquaredTerm data({n, n_channels}, problem.signal, one);
    PdhgOptions options;
    options.scheme = scheme;
    options.gamma = 0.5;
    options.n_threads = n_threads;
    Forests forests(graph, problem.weights, problem.labels, 2, h);
    std::unique_ptr<DualVariable> dual;
    if (kind == Kind::none) {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::unscaled(graph, problem.weights, penalty, n_channels, options.memory()));
    } else if (kind == Kind::diagonal) {
        dual = std::make_unique<EdgeDual>(
            EdgeDual::diagonal(graph, problem.weights, penalty, n_channels, options.memory(), 1.0));
    } else {
        dual = std::make_unique<ForestDual>(forests, h, n_channels, options.memory());
    }
    Pdhg solver(graph, problem.weights, data, penalty, std::move(dual), options);
    Watch watch;
    solver.step(watch);
    const int before = n_allocations;
    for (int iteration = 0; iteration < 12; ++iteration) check(solver.step(watch).completed);
    const int taken = n_allocations - before;
    if (penalty.by_edge())
        check(taken == 0, describe(int(kind), int(scheme), h.delta, n_threads, taken));
    Outcome outcome{std::vector<double>(solver.u().begin(), solver.u().end()),
                    std::vector<double>(graph.edges.size() * n_channels), solver.evaluate()};
    solver.dual(outcome.p);
    check(std::isfinite(penalty.conjugate(std::span<const double>(outcome.p), 1)));
    check(outcome.values.dual <= outcome.values.primal);
    return outcome;
}

void threads_change_no_bit(Kind kind, Scheme scheme, const Penalty& penalty,
                           std::size_t n_channels) {
    const Outcome alone = run(kind, scheme, penalty, n_channels, 1);
    const Outcome many = run(kind, scheme, penalty, n_channels, 4);
    check(alone.u == many.u && alone.p == many.p, describe(int(kind), int(scheme)));
    check(alone.values.primal == many.values.primal && alone.values.dual == many.values.dual);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv;
    using namespace graphtv::tests;
    for (const Kind kind : {Kind::none, Kind::diagonal, Kind::linear, Kind::trees}) {
        for (const Scheme scheme : {Scheme::fixed, Scheme::accelerated, Scheme::balanced,
                                    Scheme::restarted, Scheme::automatic})
            threads_change_no_bit(kind, scheme, EdgewisePenalty(), 1);
        threads_change_no_bit(kind, Scheme::balanced, EdgewisePenalty({0.1}), 2);
    }
    threads_change_no_bit(Kind::none, Scheme::fixed, PairPenalty(29'999, 2), 2);
    threads_change_no_bit(Kind::diagonal, Scheme::restarted, PairPenalty(29'999, 2), 2);
    return verdict();
}

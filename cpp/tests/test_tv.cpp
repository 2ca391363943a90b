// Exact total variation, checked by its optimality conditions alone: a flow x = w p with |p| ≤ 1,
// conservation Kᵀp = c (f - u), and p in the subdifferential of the penalty on every edge. Both
// violations are nonnegative parts of the duality gap, so together they prove that u is optimal.
#include <limits>
#include <optional>
#include <thread>

#include "check.hpp"
#include "graph/chain_forest.hpp"
#include "graph/rooted_forest.hpp"
#include "instances.hpp"
#include "tv/chain.hpp"
#include "tv/forest.hpp"
#include "tv/huber.hpp"
#include "tv/tree.hpp"
#include "tv/warm_chains.hpp"

namespace graphtv::tests {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Problem {
    EdgeList forest;
    const std::vector<double>& weights;
    const std::vector<double>& f;
    const std::vector<double>& c;  // empty: ones
    double delta = 0.0;
};

// The part of the gap of one edge: h(x) + h*(p) - p x ≥ 0 with x = w (u_i - u_j). Computed as a
// product, which avoids the cancellation of large numbers.
double edge_gap(double w, double drop, double p, double delta) {
    const double size = w * std::abs(drop), along = drop < 0.0 ? -p : p;
    if (size >= delta) return size * (1.0 - along) - 0.5 * delta * (1.0 - along * along);
    return 0.5 * (size / delta - along) * (size - delta * along);
}

// How far (u, p) is from optimal: the missing flow at a vertex in units of the rounding of the
// largest possible flow, Σ c max |f|, and the gap in units of the rounding of Σ c max f².
void check_optimal(const Problem& problem, const std::vector<double>& u,
                   const std::vector<double>& p, const std::string& context,
                   double tolerance = 4096.0) {
    const auto n = problem.f.size();
    const auto mass = [&](std::size_t i) { return problem.c.empty() ? 1.0 : problem.c[i]; };
    std::vector<double> missing(n);
    double total = 0.0, largest = 0.0, gap = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        missing[i] = mass(i) * (problem.f[i] - u[i]);
        total += mass(i);
        largest = std::max(largest, std::abs(problem.f[i]));
    }
    for (std::size_t e = 0; e < p.size(); ++e) {
        const auto [tail, head] = problem.forest.edges[e];
        const double w = problem.weights[e];
        check(std::abs(p[e]) <= 1.0, context);
        missing[at(tail)] -= w * p[e];
        missing[at(head)] += w * p[e];
        gap += edge_gap(w, u[at(tail)] - u[at(head)], p[e], problem.delta);
    }
    const double scale = largest;  // f itself is only known to |f| ε
    double worst = 0.0;
    for (const double value : missing) worst = std::max(worst, std::abs(value));
    check(worst <= tolerance * epsilon * total * scale,
          context + "missing flow, in units of rounding: " +
              std::to_string(worst / (epsilon * total * scale)));
    check(std::abs(gap) <= tolerance * epsilon * total * scale * scale,
          context + "gap, in units of rounding: " +
              std::to_string(gap / (epsilon * total * scale * scale)));
}

// Converts the dual of a rooted forest (by position, towards the root) to the order of the edges.
std::vector<double> by_edge(const RootedForest& forest, const std::vector<double>& flow,
                            std::size_t n_edges) {
    std::vector<double> p(n_edges);
    for (std::size_t i = 0; i < flow.size(); ++i)
        if (forest.parent[i] != RootedForest::no_parent)
            p[at(forest.edge[i])] = forest.is_tail[i] ? flow[i] : -flow[i];
    return p;
}

void check_chain(const std::vector<double>& f, const std::vector<double>& w,
                 const std::string& context) {
    const auto n = static_cast<Vertex>(f.size());
    std::vector<Edge> edges;
    for (Vertex i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1});
    ChainWorkspace workspace;
    std::vector<double> u(f.size(), 1e77), p(edges.size());
    const auto weights = ChainWeights::of(w);
    tv_chain(f, weights, u, workspace);
    tv_chain_dual(f, weights, u, p);
    const std::vector<double> all = w.size() == edges.size() ? w : std::vector(edges.size(), w[0]);
    check_optimal({{n, edges}, all, f, {}}, u, p, context);
}

void chains_are_optimal() {
    Random random(1);
    ChainWorkspace workspace;
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 63, 300, 5'000})
        for (const Signal kind : all_signals)
            for (const Weights weight_kind : all_weights)
                for (const double scale : {1.0, 1e150, 1e-150}) {
                    const auto f = scaled(signal(kind, n, random), scale);
                    const auto w = scaled(weights(weight_kind, n - 1, random), scale);
                    const auto context = describe(n, int(kind), int(weight_kind), scale);
                    check_chain(f, w, context);
                    if (!w.empty()) check_chain(f, {w.front()}, context + "uniform ");
                }
    std::vector<double> nothing;
    tv_chain(nothing, ChainWeights::of(nothing), nothing, workspace);
}

// All short chains of small integers, which covers every kind of tie.
void all_small_integer_chains() {
    for (int code = 0; code < 4 * 4 * 4 * 4 * 4 * 2 * 2 * 2; ++code) {
        int rest = code;
        std::vector<double> f, w;
        for (int i = 0; i < 5; ++i, rest /= 4) f.push_back(rest % 4);
        w.push_back(1.0);
        for (int i = 0; i < 3; ++i, rest /= 2) w.push_back(1.0 + rest % 2);
        check_chain(f, w, describe(code));
    }
}

// If u jumps by rounding only, the flow must not be reset to ±w.
void jumps_of_rounding_are_no_jumps() {
    Random random(2);
    for (std::size_t n = 2; n < 40; ++n) {
        const auto f = signal(Signal::constant, n, random);
        std::vector<double> u(n), p(n - 1);
        ChainWorkspace workspace;
        const std::vector<double> w{0.7};
        tv_chain(f, ChainWeights::of(w), u, workspace);
        tv_chain_dual(f, ChainWeights::of(w), u, p);
        check(u == f && std::ranges::max(p) == 0.0 && std::ranges::min(p) == 0.0, describe(n));
    }
    for (int trial = 0; trial < 4'000; ++trial) {
        const auto n = at(integer(random, 2, 60));
        std::vector<double> f(n), w(n - 1);
        for (double& value : f) value = static_cast<double>(integer(random, 0, 3)) / 3.0;
        for (double& value : w) value = static_cast<double>(integer(random, 1, 2)) / 3.0;
        check_chain(f, w, describe(trial, n));
    }
}

// The hulls must end in one line; ties leave several lines that differ by rounding.
void hulls_meet_at_the_end() {
    Random random(9);
    for (int trial = 0; trial < 20'000; ++trial) {
        const auto n = at(integer(random, 3, 9));
        std::vector<double> f(n, noise(random)), w{0.0};
        check_chain(f, w, describe(trial, n));
        w.clear();
        for (double& value : f) value = static_cast<double>(integer(random, 0, 3)) / 3.0;
        for (std::size_t i = 1; i < n; ++i)
            w.push_back(static_cast<double>(integer(random, 1, 2)) / 3.0);
        check_chain(f, w, describe(trial, n));
    }
}

// Lanes of several chains each, with small and large changes of the signal.
template <std::size_t lanes>
void warm_chains_are_optimal() {
    Random random(3);
    for (int trial = 0; trial < 60; ++trial) {
        const auto n = at(integer(random, 1, trial % 10 == 0 ? 3'000 / int(lanes) : 80));
        const auto kind = all_signals[at(trial) % all_signals.size()];
        const auto weight_kind = all_weights[random() % all_weights.size()];
        const bool has_one_weight = trial % 4 == 0;
        std::vector<double> f(n * lanes), w(n * lanes), u(n * lanes);
        std::vector<std::int8_t> jumps(n * lanes);
        const auto draw = [&](Signal what) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const auto values = signal(what, n, random);
                for (std::size_t k = 0; k < n; ++k) f[k * lanes + lane] = values[k];
            }
        };
        draw(kind);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto values = weights(weight_kind, n, random);
            for (std::size_t k = 0; k < n; ++k) {
                const bool ends = !has_one_weight && random() % 20 == 0;
                w[k * lanes + lane] = ends ? 0.0 : values[k];
                jumps[k * lanes + lane] = ends;
            }
        }
        WarmChainWorkspace workspace;
        workspace.reserve(n, lanes);
        for (int iteration = 0; iteration < 25; ++iteration) {
            tv_chains_warm<lanes>({n, f.data(), w.data(), has_one_weight, u.data(), jumps.data()},
                                  iteration > 0, workspace);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                std::vector<Edge> edges;
                std::vector<double> f_here(n), w_here(n - 1), u_here(n), p(n - 1);
                for (std::size_t k = 0; k < n; ++k) {
                    f_here[k] = f[k * lanes + lane];
                    u_here[k] = u[k * lanes + lane];
                    if (k + 1 == n) break;
                    w_here[k] = has_one_weight ? w[0] : w[k * lanes + lane];
                    edges.push_back({static_cast<Vertex>(k), static_cast<Vertex>(k + 1)});
                    const int jump = jumps[k * lanes + lane];
                    const double drop = u_here[k] - u[(k + 1) * lanes + lane];
                    check(w_here[k] == 0.0 || jump == (drop > 0.0) - (drop < 0.0) || drop == 0.0);
                }
                tv_chain_dual(f_here, ChainWeights::of(w_here), u_here, p);
                check_optimal({{static_cast<Vertex>(n), edges}, w_here, f_here, {}}, u_here, p,
                              describe(trial, n, iteration, int(weight_kind)));
            }
            // A small change everywhere, a large change somewhere, the negative signal, or another
            // signal.
            const double change = std::pow(10.0, -static_cast<double>(iteration % 6));
            for (double& value : f) value += change * 0.1 * noise(random);
            if (iteration % 5 == 0) f[random() % f.size()] += 10.0 * noise(random);
            if (iteration % 7 == 6)
                for (double& value : f) value = -value;
            if (iteration % 11 == 10) draw(Signal::ties);
        }
    }
}

void check_tree(const Instance& graph, const std::vector<double>& w, const std::vector<double>& f,
                const std::vector<double>& c, double delta, const std::string& context,
                double tolerance = 1e5) {
    const RootedForest forest(graph.view(), w);
    const auto n = at(forest.size());
    std::vector<double> by_position(n), mass(c.empty() ? 0 : n), u(n, 1e77), flow(n);
    for (std::size_t i = 0; i < n; ++i) {
        by_position[i] = f[at(forest.vertex[i])];
        if (!c.empty()) mass[i] = c[at(forest.vertex[i])];
    }
    TreeWorkspace tree_workspace;
    HuberWorkspace huber_workspace;
    TreeRefinement refinement(n);
    const auto judge = [&](const std::string& stage, double allowed) {
        for (Vertex t = 0; t < forest.n_trees(); ++t)
            tv_tree_dual(forest, t, by_position, mass, {delta}, u, flow);
        std::vector<double> by_vertex = f;
        for (std::size_t i = 0; i < n; ++i) by_vertex[at(forest.vertex[i])] = u[i];
        check_optimal({graph.view(), w, f, c, delta}, by_vertex,
                      by_edge(forest, flow, graph.edges.size()), context + stage, allowed);
    };
    for (Vertex t = 0; t < forest.n_trees(); ++t) {
        if (delta > 0.0)
            huber_tree(forest, t, by_position, mass, delta, u, huber_workspace);
        else
            tv_tree(forest, t, by_position, mass, u, tree_workspace);
    }
    judge("", tolerance);
    if (delta > 0.0 || !c.empty()) return;
    for (Vertex t = 0; t < forest.n_trees(); ++t) refinement(forest, t, by_position, {}, u);
    judge("refined ", 0.1 * tolerance);
}

void trees_are_optimal() {
    Random random(4);
    for (const Shape shape : all_shapes)
        for (const Vertex n : {2, 3, 4, 5, 12, 150, 2'000})
            for (const Signal kind : all_signals)
                for (const Weights weight_kind : all_weights) {
                    const double scale = std::array{1.0, 1e150, 1e-150}[random() % 3];
                    const auto graph = tree(shape, n, random);
                    const auto m = graph.edges.size();
                    const auto f = scaled(signal(kind, at(n), random), scale);
                    const auto w = scaled(weights(weight_kind, m, random), scale);
                    std::vector<double> c;
                    if (random() % 2 == 0)
                        for (Vertex i = 0; i < n; ++i) c.push_back(0.1 + uniform(random));
                    check_tree(graph, w, f, c, 0.0,
                               describe(int(shape), n, int(kind), int(weight_kind), scale));
                }
}

void huber_trees_are_optimal() {
    Random random(5);
    for (const Shape shape : all_shapes)
        for (const Vertex n : {2, 3, 5, 12, 150})
            for (const Signal kind : all_signals)
                for (const Weights weight_kind :
                     {Weights::equal, Weights::uniform, Weights::zeros, Weights::integers}) {
                    const auto graph = tree(shape, n, random);
                    const auto f = signal(kind, at(n), random);
                    const auto w = weights(weight_kind, graph.edges.size(), random);
                    const double delta = std::pow(10.0, 4.0 * uniform(random) - 3.0);
                    check_tree(graph, w, f, {}, delta,
                               describe(int(shape), n, int(kind), int(weight_kind), delta), 1e4);
                }
}

// δ is so small that w u has no more precision: zones and p depend on rounding.
void huber_settles_where_rounding_decides_the_zones() {
    Random random(10);
    for (const Shape shape : {Shape::path, Shape::caterpillar, Shape::recursive})
        for (const Signal kind : {Signal::sine, Signal::ramp, Signal::mixed, Signal::ties})
            for (const double weight : {1.0, 100.0, 1e4, 1e8})
                for (const double delta : {1e-4, 1e-9, 1e-14, 1e-100}) {
                    const auto graph = tree(shape, 1'000, random);
                    const std::vector<double> w(graph.edges.size(), weight);
                    check_tree(graph, w, signal(kind, 1'000, random), {}, delta,
                               describe(int(shape), int(kind), weight) + std::to_string(delta),
                               1e6);
                }
}

// ForestTV as the solver calls it: chains or trees, warm or cold, with one or eight threads.
void forests_are_optimal_for_any_number_of_threads() {
    Random random(6);
    for (const Shape shape : {Shape::path, Shape::recursive, Shape::forest, Shape::caterpillar})
        for (const double delta : {0.0, 0.05}) {
            auto graph = tree(shape, 60'000, random);
            std::erase_if(graph.edges, [&](Edge) { return random() % 50 == 0; });
            const auto w = weights(Weights::uniform, graph.edges.size(), random);
            auto f = signal(Signal::mixed, at(graph.n_vertices), random);
            std::array<std::optional<ForestTV>, 4> solvers;
            for (auto& solver : solvers) solver.emplace(graph.view(), w, EdgePenalty{delta});
            for (int iteration = 0; iteration < 3; ++iteration) {
                std::vector<double> first, u(f.size()), p(graph.edges.size());
                int n_threads = 1;
                for (auto& solver : solvers) {
                    solver->solve(f, u, true, n_threads);
                    if (n_threads == 1) first = u;
                    check(u == first, describe(int(shape), n_threads));
                    n_threads *= 2;
                }
                solvers[0]->dual(f, u, p);
                check_optimal({graph.view(), w, f, {}, delta}, u, p, describe(int(shape), delta),
                              1e4);
                solvers[0]->refine(f, u);
                solvers[0]->dual(f, u, p);
                check_optimal({graph.view(), w, f, {}, delta}, u, p,
                              describe(int(shape), delta) + "refined ", 1e4);
                for (double& value : f) value += 0.01 * noise(random);
            }
        }
    ForestTV empty({3, {}}, {});
    std::vector<double> f{1.0, 2.0, 3.0}, u(3), p;
    empty.solve(f, u, true, 4);
    empty.dual(f, u, p);
    check(u == f);
}

// Several callers, each with a forest, that compete for the helpers.
void forests_are_solved_side_by_side() {
    Random random(8);
    const auto graph = tree(Shape::forest, 30'000, random);
    const auto w = weights(Weights::uniform, graph.edges.size(), random);
    const auto f = signal(Signal::noise, at(graph.n_vertices), random);
    std::vector<double> expected(f.size());
    ForestTV(graph.view(), w).solve(f, expected, false, 1);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            ForestTV forest(graph.view(), w);
            std::vector<double> u(f.size());
            for (int repeat = 0; repeat < 5; ++repeat) {
                forest.solve(f, u, true, 3);
                check(u == expected);
            }
        });
    for (auto& caller : callers) caller.join();
}

// Invalid input gives undefined values, but the call returns and the sanitizers report no error.
void not_a_number_is_survived() {
    Random random(7);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double poison : {nan, infinity, -infinity})
        for (const Shape shape : all_shapes)
            for (const Vertex n : {2, 3, 5, 40, 700}) {
                const auto graph = tree(shape, n, random);
                const auto w = weights(Weights::uniform, graph.edges.size(), random);
                auto f = signal(Signal::noise, at(n), random);
                std::vector<double> u(at(n)), p(graph.edges.size());
                ForestTV forest(graph.view(), w);
                forest.solve(f, u, true, 1);
                const auto clean = u;
                const auto original = f;
                for (Vertex i = 0; i <= n / 10; ++i) f[random() % at(n)] = poison;
                forest.solve(f, u, true, 1);
                forest.dual(f, u, p);
                forest.refine(f, u);
                forest.solve(original, u, true, 1);  // and the invalid values are forgotten
                double worst = 0.0;
                for (std::size_t i = 0; i < u.size(); ++i)
                    worst = std::max(worst, std::abs(u[i] - clean[i]));
                check(worst <= 1e-12, describe(int(shape), n, worst));
            }
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    forests_are_optimal_for_any_number_of_threads();
    forests_are_solved_side_by_side();
    if constexpr (!under_thread_sanitizer) {  // single-threaded: nothing to test
        chains_are_optimal();
        all_small_integer_chains();
        jumps_of_rounding_are_no_jumps();
        hulls_meet_at_the_end();
        warm_chains_are_optimal<1>();
        warm_chains_are_optimal<graphtv::chain_lanes>();
        trees_are_optimal();
        huber_trees_are_optimal();
        huber_settles_where_rounding_decides_the_zones();
        not_a_number_is_survived();
    }
    return verdict();
}

// Descent over the edges of a grid: the iterates agree in single precision with a slow reference in
// double precision, for any shape. No bit depends on the number of threads.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "check.hpp"
#include "counting_new.hpp"
#include "instances.hpp"
#include "solver/descent/lattice_descent.hpp"
#include "solver/descent/lattice_pyramid.hpp"

namespace graphtv::tests {
namespace {

// A grid in which some edges may be missing, reversed or in another order.
struct Grid {
    std::vector<Vertex> shape;
    Instance graph;
    std::vector<int> matching;  // of each edge, in the order of an iteration
    std::vector<double> weights, f, c;

    LatticeDescent descent() const { return {shape, graph.view(), weights, f, c}; }
    double vertex_weight(Vertex v) const { return c.empty() ? 1.0 : c[at(v)]; }

    // f - C⁻¹Kᵀp
    std::vector<double> primal_point(std::span<const double> p) const {
        std::vector<double> u = f;
        for (std::size_t e = 0; e < p.size(); ++e) {
            const auto [tail, head] = graph.edges[e];
            u[at(tail)] -= weights[e] * p[e] / vertex_weight(tail);
            u[at(head)] += weights[e] * p[e] / vertex_weight(head);
        }
        return u;
    }

    double primal(std::span<const double> u) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < u.size(); ++i)
            sum += 0.5 * vertex_weight(static_cast<Vertex>(i)) * (u[i] - f[i]) * (u[i] - f[i]);
        for (std::size_t e = 0; e < weights.size(); ++e)
            sum += weights[e] * std::abs(u[at(graph.edges[e].tail)] - u[at(graph.edges[e].head)]);
        return sum;
    }
};

Grid lattice(std::vector<Vertex> shape, bool is_whole, bool has_vertex_weights, Random& random) {
    Grid made{shape, {1, {}}, {}, {}, {}, {}};
    for (const Vertex length : shape) made.graph.n_vertices *= length;
    Vertex stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
        for (Vertex v = 0; v < made.graph.n_vertices; ++v) {
            const Vertex coordinate = v / stride % shape[axis];
            if (coordinate + 1 == shape[axis]) continue;
            if (!is_whole && uniform(random) < 0.2) continue;
            const bool is_turned = !is_whole && uniform(random) < 0.3;
            made.graph.edges.push_back(is_turned ? Edge{v + stride, v} : Edge{v, v + stride});
            made.matching.push_back(static_cast<int>(2 * (shape.size() - 1 - axis)) +
                                    coordinate % 2);
        }
    }
    for (std::size_t e = 1; !is_whole && e < made.graph.edges.size(); ++e) {
        const std::size_t other = at(integer(random, 0, static_cast<std::int64_t>(e) - 1));
        if (uniform(random) < 0.9) continue;
        std::swap(made.graph.edges[e], made.graph.edges[other]);
        std::swap(made.matching[e], made.matching[other]);
    }
    const std::size_t n = at(made.graph.n_vertices);
    for (std::size_t e = 0; e < made.graph.edges.size(); ++e)
        made.weights.push_back(0.5 * uniform(random));
    for (std::size_t i = 0; i < n; ++i) made.f.push_back(1e3 + noise(random));
    if (has_vertex_weights)
        for (std::size_t i = 0; i < n; ++i) made.c.push_back(0.1 + 3.0 * uniform(random));
    return made;
}

std::vector<Grid> lattices(Random& random) {
    std::vector<Grid> made;
    for (const auto& shape : std::vector<std::vector<Vertex>>{{2, 2},
                                                              {3, 2},
                                                              {2, 9},
                                                              {17, 16},
                                                              {40, 33},
                                                              {131, 20},
                                                              {3, 300},
                                                              {7, 6, 5},
                                                              {34, 3, 4},
                                                              {3, 4, 2, 5}})
        for (const bool is_whole : {true, false})
            for (const bool has_vertex_weights : {true, false})
                made.push_back(lattice(shape, is_whole, has_vertex_weights, random));
    return made;
}

// The definition of the method, without restarts.
std::vector<double> twin(const Grid& grid, int n_iterations) {
    const std::size_t m = grid.weights.size();
    std::vector<double> x(m), y(m), u = grid.f, r = grid.f;
    std::vector<std::size_t> order(m);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::size_t e) { return std::pair(grid.matching[e], e); });
    double t = 1.0;
    for (int k = 0; k < n_iterations; ++k) {
        const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t)), beta = (t - 1.0) / next;
        t = next;
        for (const std::size_t e : order) {
            const auto [tail, head] = grid.graph.edges[e];
            const double a = 1.0 / grid.vertex_weight(tail), b = 1.0 / grid.vertex_weight(head);
            const double top = y[e] + (r[at(tail)] - r[at(head)]) / (a + b);
            const double moved = std::clamp(top, -grid.weights[e], grid.weights[e]);
            r[at(tail)] -= a * (moved - y[e]);
            r[at(head)] += b * (moved - y[e]);
            y[e] = moved + beta * (moved - x[e]);
            x[e] = moved;
        }
        for (std::size_t i = 0; i < u.size(); ++i) {
            const double kept = r[i];
            r[i] = kept + beta * (kept - u[i]);
            u[i] = kept;
        }
    }
    return u;
}

void iterates_are_those_of_the_twin() {
    Random random(1);
    for (const auto& grid : lattices(random)) {
        auto descent = grid.descent();
        Watch watch;
        std::vector<double> u(grid.f.size()), p(grid.weights.size());
        int done = 0;
        for (const int at_most : {1, 2, 3, 4, 9}) {
            const int n = descent.step(watch, 1, at_most);
            check(n == std::min(at_most, LatticeDescent::longest_step));
            done += n;
            if (descent.restarted()) break;
            descent.u(u);
            const auto expected = twin(grid, done);
            double worst = 0.0;
            for (std::size_t i = 0; i < u.size(); ++i)
                worst = std::max(worst, std::abs(u[i] - expected[i]));
            check(worst < 1e-4, describe(done, worst));
        }
        for (int step = 0; step < 50; ++step) check(descent.step(watch, 1, 4) == 4);
        descent.u(u);
        descent.dual(p);
        for (const double value : p) check(std::abs(value) <= 1.0);
        const auto expected = grid.primal_point(p);
        for (std::size_t i = 0; i < u.size(); ++i) check(std::abs(u[i] - expected[i]) < 1e-11);
        const double primal = grid.primal(u), dual = descent.dual_value();
        check(std::abs(primal - descent.primal_value()) < 1e-3 * primal);
        check(std::abs(primal - dual) < 1e-2 * primal, describe(primal, dual));

        auto again = grid.descent();
        again.start_from(p);
        std::vector<double> v(u.size());
        again.u(v);
        for (std::size_t i = 0; i < u.size(); ++i) check(std::abs(u[i] - v[i]) < 1e-4);
        check(std::abs(again.dual_value() - dual) < 1e-4 * primal);
    }
}

void threads_change_nothing() {
    Random random(2);
    for (const auto& grid : lattices(random)) {
        std::vector<double> expected;
        for (const int n_threads : {1, 2, 4, 8}) {
            auto descent = grid.descent();
            Watch watch;
            for (int step = 0; step < 7; ++step) descent.step(watch, n_threads, 4);
            std::vector<double> p(grid.weights.size());
            descent.dual(p);
            if (n_threads == 1) expected = p;
            check(p == expected, describe(n_threads));
        }
    }
}

void steps_take_no_memory() {
    Random random(3);
    const auto grid = lattice({150, 40}, true, false, random);
    auto descent = grid.descent();
    Watch watch;
    descent.step(watch, 2, 4);
    const int before = n_allocations;
    for (int step = 0; step < 100; ++step) descent.step(watch, 2, 4);
    check(n_allocations == before, describe(n_allocations - before));
}

// After an interrupt at any time, the returned point is feasible, and continuing reaches the same
// optimum.
void interruptions_leave_a_point() {
    Random random(4);
    const auto grid = lattice({90, 21}, false, true, random);
    for (int patience = 0; patience < 4; ++patience) {
        auto descent = grid.descent();
        Watch calm;
        descent.step(calm, 2, 4);
        int polls = 0;
        Watch watch(1e9, [&] { return polls++ >= patience; });
        for (int step = 0; step < 1000000 && descent.step(watch, 2, 4) > 0; ++step) continue;
        for (int step = 0; step < 400; ++step) descent.step(calm, 2, 4);
        std::vector<double> u(grid.f.size());
        descent.u(u);
        const double primal = grid.primal(u);
        check(std::abs(primal - descent.dual_value()) < 1e-2 * primal);
    }
}

// The result does not depend on the units of the data and of the weights.
void units_do_not_matter() {
    Random random(5);
    const auto grid = lattice({20, 30}, true, true, random);
    auto scaled = grid;
    for (double& value : scaled.f) value = 0x1p-300 * (value - 1e3);
    for (double& value : scaled.c) value *= 0x1p-300;
    for (double& value : scaled.weights) value *= 0x1p-600;
    auto shifted = grid;
    for (double& value : shifted.f) value -= 1e3;
    auto one = shifted.descent(), other = scaled.descent();
    Watch watch;
    for (int step = 0; step < 10; ++step) {
        one.step(watch, 1, 4);
        other.step(watch, 1, 4);
    }
    std::vector<double> p(grid.weights.size()), q(p.size());
    one.dual(p);
    other.dual(q);
    check(p == q);
}

std::size_t coordinate(const Lattice::Axis& axis, std::size_t vertex) {
    return vertex / axis.stride % axis.length;
}

// Calls body(place, place of its block).
template <class Body>
void for_each_vertex(const Lattice& fine, const Lattice& coarse, const Body& body) {
    const std::size_t width = fine.width(), coarse_width = coarse.width();
    for (std::size_t v = 0; v < fine.n_vertices(); ++v) {
        std::size_t block = 0;
        for (std::size_t a = 0; a < fine.axes().size(); ++a)
            block += coordinate(fine.axes()[a], v) / 2 * coarse.axes()[a].stride;
        body(fine.place(v - v % width, v % width),
             coarse.place(block - block % coarse_width, block % coarse_width));
    }
}

// If the data is constant on blocks, the coarse problem equals the fine one on such functions. The
// test compares the objectives at p = 0. Flows of the coarse problem are feasible on the fine grid.
void blocks_are_vertices_of_the_coarse_grid() {
    Random random(7);
    for (const auto& shape : std::vector<std::vector<Vertex>>{{8, 8}, {9, 12}, {11, 9}, {8, 10, 9}})
        for (const bool is_weighted : {true, false}) {
            Lattice fine(shape, is_weighted);
            for (float& value : fine.inverse()) value = static_cast<float>(0.3 + uniform(random));
            Lattice coarse = coarsened(fine);
            for (auto& axis : fine.axes())
                for (std::size_t v = 0; v < fine.n_vertices(); ++v)
                    if (coordinate(axis, v) + 1 < axis.length)
                        axis.capacity[fine.place(v - v % fine.width(), v % fine.width())] =
                            static_cast<float>(uniform(random));
            std::vector<float> block(coarse.n_vertices());
            for (float& value : block) value = static_cast<float>(noise(random));
            for_each_vertex(fine, coarse,
                            [&](std::size_t i, std::size_t k) { fine.g()[i] = block[k]; });
            coarse = coarsened(fine);
            fine.restart(1);
            coarse.restart(1);
            for (std::size_t k = 0; k < block.size(); ++k)
                check(std::abs(coarse.g()[k] - block[k]) < 1e-5F);
            // Blocks of the same weight are given weight 1.
            const double unit = coarse.is_weighted() ? 1.0 : std::exp2(shape.size());
            const double expected = fine.primal_value(1), found = unit * coarse.primal_value(1);
            check(std::abs(found - expected) < 1e-4 * expected, describe(found, expected));

            Watch watch;
            for (int step = 0; step < 20; ++step) coarse.step(watch, 1, 4);
            prolong(coarse, fine);
            fine.restart(1);
            for (const auto& axis : fine.axes())
                for (std::size_t i = 0; i < axis.x.size(); ++i)
                    check(std::abs(axis.x[i]) <= axis.capacity[i] * 1.000001F);
        }
}

// Far from p = 0, a start on coarser grids saves most of the iterations. No bit depends on the
// number of threads.
void coarse_starts_are_better() {
    Random random(8);
    for (const auto& shape : std::vector<std::vector<Vertex>>{{64, 64}, {75, 90}, {20, 22, 24}})
        for (const bool has_vertex_weights : {true, false}) {
            auto grid = lattice(shape, true, has_vertex_weights, random);
            for (double& weight : grid.weights) weight = 2.0 + weight;
            std::vector<double> p(grid.weights.size()), expected;
            Watch watch;
            auto cold = grid.descent();
            for (int step = 0; step < 10; ++step) cold.step(watch, 1, 4);
            for (const int n_threads : {1, 2, 4}) {
                auto warm = grid.descent();
                check(warm.start_from_coarse(watch, n_threads));
                for (int step = 0; step < 10; ++step) warm.step(watch, n_threads, 4);
                const double cold_gap = cold.primal_value() - cold.dual_value();
                const double warm_gap = warm.primal_value() - warm.dual_value();
                check(warm_gap < 0.5 * cold_gap, describe(warm_gap, cold_gap));
                warm.dual(p);
                if (n_threads == 1) expected = p;
                check(p == expected, describe(n_threads));
            }
            Watch over(0.0, {});
            auto none = grid.descent();
            check(!none.start_from_coarse(over, 1));
            none.dual(p);
            check(std::ranges::all_of(p, [](double value) { return value == 0.0; }));
        }
}

void constant_data() {
    const std::vector<double> f(6, 3.0), weights(7, 1.0);
    Random random(6);
    auto grid = lattice({2, 3}, true, false, random);
    grid.f = f;
    auto descent = grid.descent();
    Watch watch;
    check(descent.step(watch, 1, 4) == 4);
    std::vector<double> u(6);
    descent.u(u);
    check(u == f && descent.primal_value() == 0.0 && descent.dual_value() == 0.0);
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    threads_change_nothing();
    interruptions_leave_a_point();
    coarse_starts_are_better();
    if constexpr (!under_thread_sanitizer) {  // single-threaded: nothing to test
        blocks_are_vertices_of_the_coarse_grid();
        iterates_are_those_of_the_twin();
        steps_take_no_memory();
        units_do_not_matter();
        constant_data();
    }
    return verdict();
}

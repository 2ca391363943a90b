#include "solver/reduced/reduced_polish.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "solver/descent/edge_descent.hpp"
#include "solver/objective.hpp"

namespace graphtv {

namespace {

// Vertices per part, and the number of parts that are not reduced further.
constexpr Vertex shrink = 10, few_parts = 40;

// Iterations of descent on the first level, the factor from level to level, and the largest number.
constexpr int first_iterations = 48, growth = 3, most_iterations = 1000;

struct Level {
    ReducedProblem reduced;
    std::vector<double> u, p;

    SquaredProblem problem() const {
        SquaredProblem found = reduced.problem();
        if (!p.empty()) found.p = p;
        return found;
    }
};

// Computes u and p of a level by descent from its dual point.
void descend(Level& level, int n_iterations, Watch& watch) {
    const SquaredProblem problem = level.problem();
    EdgeDescent descent(problem.graph, problem.weights, problem.signal, problem.vertex_weights);
    descent.start_from(problem.p);
    for (int k = 0; k < n_iterations; ++k)
        if (!descent.step(watch)) throw Expired{};
    const auto found = descent.u();
    level.u.assign(found.begin(), found.end());
    level.p.resize(problem.p.size());
    descent.dual(level.p);
}

double primal_value(const SquaredProblem& problem, std::span<const double> u) {
    double sum = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double distance = u[i] - problem.signal[i];
        sum += 0.5 * problem.weight(i) * distance * distance;
    }
    for (std::size_t e = 0; e < problem.weights.size(); ++e) {
        const auto [tail, head] = problem.graph.edges[e];
        sum += problem.weights[e] * std::abs(u[at(tail)] - u[at(head)]);
    }
    return sum;
}

}  // namespace

void ReducedPolish::run(std::span<double> u, Watch& watch) const {
    adjoint(problem_.graph, problem_.weights, problem_.p, -1.0, u, 1);
    for_watched(u.size(),
                [&](std::size_t i) { u[i] = problem_.signal[i] + u[i] / problem_.weight(i); });
    std::deque<Level> levels;
    std::size_t best_level = 0;
    double constant = 0.0, best = std::numeric_limits<double>::infinity();
    int n_iterations = first_iterations;
    do {
        const SquaredProblem fine = levels.empty() ? problem_ : levels.back().problem();
        const std::span<const double> values = levels.empty() ? u : levels.back().u;
        levels.push_back({{fine, values, fine.graph.n_vertices / shrink}, {}, {}});
        descend(levels.back(), n_iterations, watch);
        n_iterations = std::min(growth * n_iterations, most_iterations);
        constant += levels.back().reduced.constant();
        const double value = constant + primal_value(levels.back().problem(), levels.back().u);
        if (value < best) {
            best = value;
            best_level = levels.size() - 1;
        }
    } while (levels.back().u.size() > at(few_parts) && !levels.back().p.empty());
    // From the best level back to the original problem.
    for (std::size_t k = best_level; k > 0; --k)
        levels[k].reduced.expand(levels[k].u, levels[k - 1].u);
    levels[0].reduced.expand(levels[0].u, u);
}

}  // namespace graphtv

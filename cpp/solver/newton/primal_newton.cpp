#include "solver/newton/primal_newton.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/watch.hpp"

namespace graphtv {

int PrimalNewton::step(std::span<const double> u, std::span<const double> p,
                       std::span<const double> slope, std::span<const double> curvature,
                       double smoothing, double accuracy, int most, std::span<double> d) {
    const std::size_t n = at(graph_.n_vertices), m = weights_.size();
    const double delta = penalty_.width();
    int iterations = 0;
    penalty_.for_each_part(u.size() / n, [&](std::size_t channel, std::size_t n_channels) {
        const std::size_t first = channel * n, size = n_channels * n;
        system_.resize(n_channels);
        rhs_.resize(size);
        std::copy_n(&curvature[first], size, system_.c.begin());
        for (std::size_t k = 0; k < size; ++k) rhs_[k] = -slope[first + k];
        for_watched(penalty_.n_groups(), [&](std::size_t g) {
            const auto group = penalty_.group(g, 0, n_channels);
            double squares = 0.0;
            group.for_each([&](std::size_t e, std::size_t c, std::size_t i) {
                const auto [tail, head] = graph_.edges[e];
                const double* v = &u[first + c * n];
                system_.r[i] = weights_[e] * (v[tail] - v[head]);
                squares += system_.r[i] * system_.r[i];
            });
            const double norm = std::sqrt(squares);
            const bool is_round = delta > 0.0 && norm < delta;  // in the quadratic zone
            const double length =
                delta > 0.0 ? std::max(norm, delta) : std::sqrt(squares + smoothing * smoothing);
            system_.a[g] = 1.0 / length;
            group.for_each([&](std::size_t e, std::size_t c, std::size_t i) {
                const auto [tail, head] = graph_.edges[e];
                const double x = system_.r[i] / length;
                rhs_[c * n + at(tail)] -= weights_[e] * x;
                rhs_[c * n + at(head)] += weights_[e] * x;
                system_.l[i] = p[channel * m + i];
                system_.r[i] = is_round ? 0.0 : x;
            });
        });
        system_.precondition();
        iterations += system_.solve(rhs_, d.subspan(first, size), accuracy, most);
    });
    return iterations;
}

}  // namespace graphtv

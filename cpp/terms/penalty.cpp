#include "terms/penalty.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "terms/entrywise.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Whether every |p| ≤ 1.
template <class Real>
bool is_feasible(std::span<const Real> p, int n_threads) {
    std::atomic<bool> all = true;
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        bool here = true;
        for (std::size_t i = first; i < last; ++i) here &= std::abs(value_of(p[i])) <= 1.0;
        if (!here) all = false;
    });
    return all;
}

template <class Real>
double conjugate_of(EdgePenalty h, std::span<const Real> p, int n_threads) {
    if (!h.is_huber())
        return is_feasible(p, n_threads) ? 0.0 : std::numeric_limits<double>::infinity();
    return sum_of(p.size(), n_threads, [&](std::size_t i) { return h.conjugate(value_of(p[i])); })
        .value();
}

}  // namespace

double Penalty::conjugate(std::span<const Rounded> p, int n_threads) const {
    std::vector<double> values(p.size());
    std::ranges::transform(p, values.begin(), [](Rounded x) { return value_of(x); });
    return conjugate(std::span<const double>(values), n_threads);
}

double EdgewisePenalty::value(const EdgeList& graph, std::span<const double> weights,
                              std::span<const double> u, int n_threads) const {
    const auto n = at(graph.n_vertices);
    const EdgePenalty h = h_;
    CompensatedSum total;
    for (std::size_t first = 0; first < u.size(); first += n) {
        const double* channel = u.data() + first;
        total.add(sum_of(graph.edges.size(), n_threads, [&](std::size_t e) {
            const auto [tail, head] = graph.edges[e];
            return h.value(weights[e] * (channel[tail] - channel[head]));
        }));
    }
    return total.value();
}

double EdgewisePenalty::conjugate(std::span<const double> p, int n_threads) const {
    return conjugate_of(h_, p, n_threads);
}
double EdgewisePenalty::conjugate(std::span<const Rounded> p, int n_threads) const {
    return conjugate_of(h_, p, n_threads);
}

void EdgewisePenalty::project(std::span<double> p, int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) p[i] = std::clamp(p[i], -1.0, 1.0);
    });
}

void EdgewisePenalty::prox_conjugate(std::span<const double> v, std::span<const double> steps,
                                     std::span<double> out, int n_threads) const {
    const Entries step(steps);
    const EdgePenalty h = h_;
    const std::size_t period = steps.size() == 1 ? 1 : steps.size();
    for_shards(v.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            out[i] = h.prox_conjugate(v[i], step[i % period]);
    });
}

}  // namespace graphtv

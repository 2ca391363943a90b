#include "terms/penalty.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "terms/divergence.hpp"
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

// An edge's h(x) + δ/2 p² - p x for x = ω |u_i - u_j| and p in that direction, as a product of
// nonnegative numbers or as a square; the factor of a square has an absolute error.
void add_excess(double x, double p, double delta, Tally& to) {
    const double rest = 1.0 - p;
    double excess, error;
    if (delta == 0.0) {
        excess = product_above(rest, x);
        error = 0.0;
    } else if (x < delta) {
        const double d = x - delta * p, slack = 4.0 * unit_roundoff * (x + delta * std::abs(p));
        excess = product_above(0.5 * d / delta, d);
        error = (std::abs(d) + slack) * (slack / delta);
    } else {
        excess = rest * (x - 0.5 * delta * (1.0 + p));
        error = 4.0 * unit_roundoff * rest * (x + delta);
    }
    to.excess.add(excess);
    to.excess_rounding += error + formula_error * excess;
}

template <class Real>
Tally tally_of_edges(EdgePenalty h, const EdgeList& graph, std::span<const double> weights,
                     std::span<const double> u, std::span<const Real> p, int n_threads) {
    const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
    Tally total;
    for (std::size_t first = 0, row = 0; first < u.size(); first += n, row += m) {
        const double* channel = u.data() + first;
        const Real* flows = p.data() + row;
        total.add(tally_of(m, n_threads, [&](std::size_t e, Tally& to) {
            const auto [tail, head] = graph.edges[e];
            const double difference = channel[tail] - channel[head], flow = value_of(flows[e]);
            const double value = h.value(weights[e] * difference);
            const double conjugate = h.conjugate(flow);
            to.value.add(value);
            to.rounding += 16.0 * unit_roundoff * (value + conjugate);
            if (h.is_huber() || conjugate > 0.0) to.conjugate.add(conjugate);
            if (std::isinf(conjugate)) {
                to.excess.add(conjugate);
                return;
            }
            const double size = product_above(weights[e], std::abs(difference));
            add_excess(size, difference < 0.0 ? -flow : flow, h.delta, to);
        }));
    }
    return total;
}

std::vector<double> values_of(std::span<const Rounded> p) {
    std::vector<double> values(p.size());
    std::ranges::transform(p, values.begin(), [](Rounded x) { return value_of(x); });
    return values;
}

}  // namespace

double Penalty::conjugate(std::span<const Rounded> p, int n_threads) const {
    return conjugate(std::span<const double>(values_of(p)), n_threads);
}

Tally Penalty::tally(const EdgeList& graph, std::span<const double> weights,
                     std::span<const double> u, std::span<const double> p, int n_threads) const {
    const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
    Tally total, products;
    for (std::size_t first = 0, row = 0; first < u.size(); first += n, row += m)
        products.add(tally_of(m, n_threads, [&](std::size_t e, Tally& to) {
            const auto [tail, head] = graph.edges[e];
            const double x = weights[e] * (u[first + at(tail)] - u[first + at(head)]);
            to.excess.add(-x * p[row + e]);
            to.excess_rounding += 4.0 * unit_roundoff * std::abs(x);
        }));
    const double primal = value(graph, weights, u, n_threads), dual = conjugate(p, n_threads);
    total.value.add(primal);
    total.conjugate.add(dual);
    products.excess.add(primal);
    products.excess.add(dual);
    total.excess.add(std::abs(products.excess.value()));
    total.rounding = 16.0 * unit_roundoff * (primal + dual);
    total.excess_rounding = total.rounding + products.excess_rounding;
    return total;
}
Tally Penalty::tally(const EdgeList& graph, std::span<const double> weights,
                     std::span<const double> u, std::span<const Rounded> p, int n_threads) const {
    return tally(graph, weights, u, std::span<const double>(values_of(p)), n_threads);
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

Tally EdgewisePenalty::tally(const EdgeList& graph, std::span<const double> weights,
                             std::span<const double> u, std::span<const double> p,
                             int n_threads) const {
    return tally_of_edges(h_, graph, weights, u, p, n_threads);
}
Tally EdgewisePenalty::tally(const EdgeList& graph, std::span<const double> weights,
                             std::span<const double> u, std::span<const Rounded> p,
                             int n_threads) const {
    return tally_of_edges(h_, graph, weights, u, p, n_threads);
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

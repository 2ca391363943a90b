#include "terms/penalty.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "parallel/each_cpu.hpp"
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

// The excess h(x) + δ/2 p² - p x of an edge, where x = ω |u_i - u_j| and p is taken in the same
// direction, and its rounding error. The excess is a product of nonnegative numbers, or a square
// whose root has an absolute error.
void set_excess(double x, double p, double delta, double& excess, double& rounding) {
    const double rest = 1.0 - p;
    if (x < delta) {
        const double d = x - delta * p, slack = 4.0 * unit_roundoff * (x + delta * std::abs(p));
        excess = product_above(0.5 * d / delta, d);
        rounding = (std::abs(d) + slack) * (slack / delta) + formula_error * excess;
    } else {
        excess = rest * (x - 0.5 * delta * (1.0 + p));
        rounding = 4.0 * unit_roundoff * rest * (x + delta) + formula_error * excess;
    }
}

// How many flows have |p| > 1, and how many differences are not 0. Counters as wide as a double can be
// vectorised with it.
struct Found {
    std::int64_t n_outside = 0, n_different = 0;
};

// Turns differences into ω |u_i - u_j|, and computes their excess.
template <class Real>
GRAPHTV_INLINE Found weigh(const double* __restrict weights, const Real* __restrict flows,
                           std::size_t length, double* __restrict values,
                           double* __restrict excess) {
    Found found;
    for (std::size_t k = 0; k < length; ++k) {
        const double flow = value_of(flows[k]), difference = values[k];
        const double value = weights[k] * std::abs(difference);
        found.n_outside += std::abs(flow) <= 1.0 ? 0 : 1;
        found.n_different += difference != 0.0 ? 1 : 0;
        values[k] = value;
        excess[k] = value * (1.0 - std::copysign(1.0, difference) * flow);
    }
    return found;
}

GRAPHTV_FOR_EACH_CPU
Found add_weights(const double* weights, const double* flows, std::size_t length, double* values,
                  double* excess) {
    return weigh(weights, flows, length, values, excess);
}
GRAPHTV_FOR_EACH_CPU
Found add_weights(const double* weights, const Rounded* flows, std::size_t length, double* values,
                  double* excess) {
    return weigh(weights, flows, length, values, excess);
}

// Total variation: the excess of an edge is ω |u_i - u_j| (1 - p), with p in the direction of the
// difference. All errors are relative.
template <class Real>
Tally tally_of_differences(const EdgeList& graph, std::span<const double> weights,
                           const double* channel, const Real* flows, int n_threads) {
    std::atomic<bool> is_feasible = true, is_constant = true;
    const auto fill = [&](std::size_t first, std::size_t length, double* values, double* excess) {
        for (std::size_t k = 0; k < length; ++k) {
            const auto [tail, head] = graph.edges[first + k];
            values[k] = channel[tail] - channel[head];
        }
        const Found found = add_weights(&weights[first], flows + first, length, values, excess);
        if (found.n_outside > 0) is_feasible = false;
        if (found.n_different > 0) is_constant = false;
    };
    Tally total = tally_of_pairs(graph.edges.size(), n_threads, fill);
    total.rounding = 16.0 * unit_roundoff * total.value.value();
    total.excess_rounding = formula_error * total.excess;
    if (!is_constant)
        total.excess_rounding += static_cast<double>(graph.edges.size()) * underflow_floor;
    if (!is_feasible) {
        total.excess = std::numeric_limits<double>::infinity();
        total.conjugate.add(total.excess);
    }
    return total;
}

// Huber's relaxation.
template <class Real>
Tally tally_of_slopes(EdgePenalty h, const EdgeList& graph, std::span<const double> weights,
                      const double* channel, const Real* flows, int n_threads) {
    const auto fill = [&](std::size_t first, std::size_t length, TallyRow& row) {
        for (std::size_t k = 0; k < length; ++k) {
            const auto [tail, head] = graph.edges[first + k];
            const double difference = channel[tail] - channel[head];
            const double flow = value_of(flows[first + k]), w = weights[first + k];
            row.value[k] = h.value(w * difference);
            row.conjugate[k] = h.conjugate(flow);
            row.rounding[k] = 16.0 * unit_roundoff * (row.value[k] + row.conjugate[k]);
            set_excess(product_above(w, std::abs(difference)), difference < 0.0 ? -flow : flow,
                       h.delta, row.excess[k], row.excess_rounding[k]);
            if (std::isinf(row.conjugate[k])) row.excess[k] = row.conjugate[k];
        }
    };
    return tally_of(graph.edges.size(), n_threads, fill);
}

template <class Real>
Tally tally_of_edges(EdgePenalty h, const EdgeList& graph, std::span<const double> weights,
                     std::span<const double> u, std::span<const Real> p, int n_threads) {
    const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
    Tally total;
    for (std::size_t of_u = 0, of_p = 0; of_u < u.size(); of_u += n, of_p += m) {
        const double* channel = u.data() + of_u;
        const Real* flows = p.data() + of_p;
        total.add(h.is_huber() ? tally_of_slopes(h, graph, weights, channel, flows, n_threads)
                               : tally_of_differences(graph, weights, channel, flows, n_threads));
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
    CompensatedSum excess;
    Tally total;
    for (std::size_t offset = 0, of_p = 0; offset < u.size(); offset += n, of_p += m)
        for (std::size_t e = 0; e < m; ++e) {
            const auto [tail, head] = graph.edges[e];
            const double x = weights[e] * (u[offset + at(tail)] - u[offset + at(head)]);
            excess.add(-x * p[of_p + e]);
            total.excess_rounding += 4.0 * unit_roundoff * std::abs(x);
        }
    const double primal = value(graph, weights, u, n_threads), dual = conjugate(p, n_threads);
    total.value.add(primal);
    total.conjugate.add(dual);
    excess.add(primal);
    excess.add(dual);
    total.excess = std::abs(excess.value());
    total.rounding = 16.0 * unit_roundoff * (primal + dual);
    total.excess_rounding += total.rounding;
    return total;
}
Tally Penalty::tally(const EdgeList& graph, std::span<const double> weights,
                     std::span<const double> u, std::span<const Rounded> p, int n_threads) const {
    return tally(graph, weights, u, std::span<const double>(values_of(p)), n_threads);
}

void Penalty::round(std::span<const double> p, std::span<Rounded> out, int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] = static_cast<Rounded>(p[i] * finest);
    });
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

void EdgewisePenalty::round(std::span<const double> p, std::span<Rounded> out,
                            int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] = rounded(p[i]);
    });
}

}  // namespace graphtv

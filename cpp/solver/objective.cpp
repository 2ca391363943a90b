#include "solver/objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "graph/edge_run.hpp"
#include "terms/divergence.hpp"
#include "terms/sum.hpp"
#include "terms/tally.hpp"

namespace graphtv {

namespace {

constexpr std::size_t few_edges = 1 << 16;  // too few for several threads

// Sums over the edges of each vertex in [low, high).
struct Sums {
    double* sums;
    Vertex low, high;

    void fill() const { std::fill(sums + low, sums + high, 0.0); }
    void add(Vertex v, double flow) const { sums[v] += flow; }
};

// The same with a running error bound: the sum of the absolute values of all partial sums and of
// all products, in units of the roundoff (Higham, "Accuracy and Stability of Numerical Algorithms",
// 3.3).
struct SumsWithErrors {
    double *sums, *errors;
    Vertex low, high;

    void fill() const {
        std::fill(sums + low, sums + high, 0.0);
        std::fill(errors + low, errors + high, 0.0);
    }
    void add(Vertex v, double flow) const {
        sums[v] += flow;
        errors[v] += std::abs(sums[v]) + std::abs(flow);
    }
};

// Adds sign · flows to the vertices from `first` on that are in range.
template <class To>
void add_run(const To& to, Vertex first, double sign, const double* flows, std::size_t length) {
    const Vertex begin = std::max(first, to.low);
    const Vertex end = std::min(first + static_cast<Vertex>(length), to.high);
    for (Vertex v = begin; v < end; ++v) to.add(v, sign * flows[v - first]);
}

// scale · Kᵀp of a channel. Every vertex adds its edges in their order.
template <class Real, class To>
void gather(const EdgeList& graph, std::span<const double> weights, const Real* p, double scale,
            const To& to) {
    to.fill();
    const auto add = [&](std::size_t e, std::size_t length) {
        const auto [tail, head] = graph.edges[e];
        if (length == 1) {
            const double flow = scale * weights[e] * value_of(p[e]);
            if (tail >= to.low && tail < to.high) to.add(tail, flow);
            if (head >= to.low && head < to.high) to.add(head, -flow);
            return;
        }
        std::array<double, longest_run> run;
        for (std::size_t k = 0; k < length; ++k)
            run[k] = scale * weights[e + k] * value_of(p[e + k]);
        add_run(to, tail, 1.0, run.data(), length);
        add_run(to, head, -1.0, run.data(), length);
    };
    const std::size_t m = graph.edges.size();
    for (std::size_t begin = 0; begin < m; begin += between_looks) {
        Watched::look();
        for_each_run(graph.edges, begin, std::min(begin + between_looks, m), add);
    }
}

// Threads share the channels, or the vertices of a single channel. to(offset, low, high) returns
// where the sums of a channel are stored.
template <class Real, class To>
void apply_adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
                   double scale, std::size_t size, int n_threads, const To& to) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const std::size_t m = graph.edges.size();
    const std::size_t n_channels = n > 0 ? size / n : 0;
    const int n_parts = n_channels == 1 && m >= few_edges ? std::min(n_threads, 2) : 1;
    parallel_for(static_cast<int>(n_channels) * n_parts, n_threads, [&](int task, int) {
        const auto c = static_cast<std::size_t>(task / n_parts);
        const Vertex middle = graph.n_vertices / 2, part = task % n_parts;
        const Vertex low = part == 0 ? 0 : middle;
        const Vertex high = part + 1 == n_parts ? graph.n_vertices : middle;
        gather(graph, weights, p.data() + c * m, scale, to(c * n, low, high));
    });
}

template <class Real>
void plain_adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
                   double scale, std::span<double> out, int n_threads) {
    apply_adjoint(graph, weights, p, scale, out.size(), n_threads,
                  [&](std::size_t offset, Vertex low, Vertex high) {
                      return Sums{out.data() + offset, low, high};
                  });
}

template <class Real>
void slope_of(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
              std::span<double> s, std::span<double> errors, int n_threads) {
    apply_adjoint(graph, weights, p, -1.0, s.size(), n_threads,
                  [&](std::size_t offset, Vertex low, Vertex high) {
                      return SumsWithErrors{s.data() + offset, errors.data() + offset, low, high};
                  });
}

// A product with p ≠ 0 loses less than the floor to underflow.
template <class Real>
Errors errors_of(std::span<const double> counts, std::span<const Real> p) {
    const bool is_zero = std::ranges::all_of(p, [](Real x) { return x == Real{}; });
    return {counts, 1.01 * unit_roundoff, is_zero ? 0.0 : underflow_floor};
}

template <class Real>
Certificate certificate_of(const DataTerm& term, const EdgeList& graph,
                           std::span<const double> weights, const Penalty& penalty,
                           std::span<const double> u, std::span<const Real> p,
                           std::span<const double> s, std::span<const double> counts,
                           int n_threads) {
    const Tally edges = penalty.tally(graph, weights, u, p, n_threads);
    const Tally vertices = term.tally(u, s, errors_of(counts, p), n_threads);
    const double infinite = std::numeric_limits<double>::infinity();
    Certificate found;
    found.primal = vertices.value.value() + edges.value.value();
    found.dual = 0.0 - vertices.conjugate.value() - edges.conjugate.value();
    const double excess = edges.excess + vertices.excess;
    found.gap = std::abs(excess);
    found.rounding = vertices.rounding + edges.rounding +
                     4.0 * unit_roundoff * (std::abs(found.primal) + std::abs(found.dual));
    // The sums of the excess have at most as many terms as there are entries and edges.
    const auto n_terms = static_cast<double>(u.size() + p.size());
    found.gap_rounding = vertices.excess_rounding + edges.excess_rounding +
                         (formula_error + n_terms * unit_roundoff) * found.gap;
    // A gap is negative by rounding only, or if the range of the conjugates holds no solution.
    if (excess < 0.0) found.gap = -excess <= found.gap_rounding ? 0.0 : infinite;
    if (!std::isfinite(found.primal) || !std::isfinite(found.dual) || !std::isfinite(excess) ||
        !std::isfinite(found.gap_rounding))
        found.gap = infinite;
    if (edges.conjugate.value() == infinite) found.dual = -infinite;
    return found;
}

}  // namespace

void round_dual(std::span<const double> p, std::span<Rounded> out, int n_threads) {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] = rounded(p[i]);
    });
}

void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
             double scale, std::span<double> out, int n_threads) {
    plain_adjoint(graph, weights, p, scale, out, n_threads);
}
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
             double scale, std::span<double> out, int n_threads) {
    plain_adjoint(graph, weights, p, scale, out, n_threads);
}

void slope(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
           std::span<double> s, std::span<double> errors, int n_threads) {
    slope_of(graph, weights, p, s, errors, n_threads);
}
void slope(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
           std::span<double> s, std::span<double> errors, int n_threads) {
    slope_of(graph, weights, p, s, errors, n_threads);
}

Certificate certify(const DataTerm& term, const EdgeList& graph, std::span<const double> weights,
                    const Penalty& penalty, std::span<const double> u, std::span<const double> p,
                    std::span<const double> s, std::span<const double> errors, int n_threads) {
    return certificate_of(term, graph, weights, penalty, u, p, s, errors, n_threads);
}
Certificate certify(const DataTerm& term, const EdgeList& graph, std::span<const double> weights,
                    const Penalty& penalty, std::span<const double> u, std::span<const Rounded> p,
                    std::span<const double> s, std::span<const double> errors, int n_threads) {
    return certificate_of(term, graph, weights, penalty, u, p, s, errors, n_threads);
}

}  // namespace graphtv

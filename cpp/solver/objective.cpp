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

constexpr std::size_t few_edges = 1 << 16;  // not worth two threads

// Adds to sums and, in the place of their errors in units of the last place, the size of every
// partial sum and of every product (Higham, "Accuracy and Stability of Numerical Algorithms", 3.3).
struct WithErrors {
    double *sums, *errors;

    void fill(std::size_t n) const {
        std::fill_n(sums, n, 0.0);
        std::fill_n(errors, n, 0.0);
    }
    template <int sign>
    void add(Vertex first, const double* flows, std::size_t length) const {
        double *sum = sums + first, *error = errors + first;
        for (std::size_t k = 0; k < length; ++k) {
            sum[k] += sign * flows[k];
            error[k] += std::abs(sum[k]) + std::abs(flows[k]);
        }
    }
    void add(const WithErrors& other, std::size_t first, std::size_t last) const {
        for (std::size_t i = first; i < last; ++i) {
            sums[i] += other.sums[i];
            errors[i] += other.errors[i] + std::abs(sums[i]);
        }
    }
    WithErrors channel(std::size_t first) const { return {sums + first, errors + first}; }
};

struct WithoutErrors {
    double* sums;

    void fill(std::size_t n) const { std::fill_n(sums, n, 0.0); }
    template <int sign>
    void add(Vertex first, const double* flows, std::size_t length) const {
        double* sum = sums + first;
        for (std::size_t k = 0; k < length; ++k) sum[k] += sign * flows[k];
    }
    void add(const WithoutErrors& other, std::size_t first, std::size_t last) const {
        for (std::size_t i = first; i < last; ++i) sums[i] += other.sums[i];
    }
    WithoutErrors channel(std::size_t first) const { return {sums + first}; }
};

// out = scale · Kᵀp; `others` makes room for the sums of a second half of the edges.
template <class Real, class Sums, class Others>
void apply_adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
                   double scale, Sums out, int n_channels, int n_threads, const Others& others) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const std::size_t m = graph.edges.size();
    const auto gather = [&](const Real* flows, std::size_t first, std::size_t last, Sums sums) {
        sums.fill(n);
        const auto add = [&](std::size_t e, std::size_t length) {
            const auto [tail, head] = graph.edges[e];
            std::array<double, longest_run> run;
            for (std::size_t k = 0; k < length; ++k)
                run[k] = scale * weights[e + k] * value_of(flows[e + k]);
            sums.template add<1>(tail, run.data(), length);
            sums.template add<-1>(head, run.data(), length);
        };
        for (std::size_t begin = first; begin < last; begin += between_looks) {
            Watched::look();
            for_each_run(graph.edges, begin, std::min(begin + between_looks, last), add);
        }
    };
    if (n_channels != 1 || m < few_edges) {
        parallel_for(n_channels, n_threads, [&](int channel, int) {
            const auto c = static_cast<std::size_t>(channel);
            gather(p.data() + c * m, 0, m, out.channel(c * n));
        });
        return;
    }
    const Sums second = others();
    parallel_for(2, n_threads, [&](int half, int) {
        gather(p.data(), half == 0 ? 0 : m / 2, half == 0 ? m / 2 : m, half == 0 ? out : second);
    });
    for_shards(n, n_threads,
               [&](std::size_t first, std::size_t last) { out.add(second, first, last); });
}

template <class Real>
void plain_adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
                   double scale, std::span<double> out, int n_threads) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const int n_channels = n > 0 ? static_cast<int>(out.size() / n) : 0;
    std::vector<double> others;
    apply_adjoint(graph, weights, p, scale, WithoutErrors{out.data()}, n_channels, n_threads, [&] {
        others.resize(n);
        return WithoutErrors{others.data()};
    });
}

template <class Real>
void slope_of(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
              std::span<double> s, std::span<double> errors, int n_threads) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const int n_channels = n > 0 ? static_cast<int>(s.size() / n) : 0;
    std::vector<double> others, other_errors;
    apply_adjoint(graph, weights, p, -1.0, WithErrors{s.data(), errors.data()}, n_channels,
                  n_threads, [&] {
                      others.resize(n);
                      other_errors.resize(n);
                      return WithErrors{others.data(), other_errors.data()};
                  });
}

// What a product of p ≠ 0 loses to underflow is less than the floor.
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
    CompensatedSum excess = edges.excess;
    excess.add(vertices.excess);
    found.gap = excess.value() >= 0.0 ? excess.value() : 0.0;
    found.rounding = vertices.rounding + edges.rounding +
                     4.0 * unit_roundoff * (std::abs(found.primal) + std::abs(found.dual));
    found.gap_rounding =
        vertices.excess_rounding + edges.excess_rounding + formula_error * found.gap;
    if (!std::isfinite(found.primal) || !std::isfinite(found.dual) ||
        !std::isfinite(excess.value()) || !std::isfinite(found.gap_rounding))
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

#include "solver/objective.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/edge_run.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr std::size_t few_edges = 1 << 16;  // not worth two threads

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
double conjugate_of(double delta, std::span<const Real> p, int n_threads) {
    const double infinite = std::numeric_limits<double>::infinity();
    if (delta == 0.0) return is_feasible(p, n_threads) ? 0.0 : infinite;
    return sum_of(p.size(), n_threads,
                  [&](std::size_t i) {
                      const double value = value_of(p[i]);
                      return std::abs(value) <= 1.0 ? 0.5 * delta * value * value : infinite;
                  })
        .value();
}

template <class Real>
void apply_adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Real> p,
                   double scale, std::span<double> out, int n_threads) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    const std::size_t m = graph.edges.size();
    const int n_channels = n > 0 ? static_cast<int>(out.size() / n) : 0;
    const auto gather = [&](const Real* flows, std::size_t first, std::size_t last, double* sums) {
        std::fill_n(sums, n, 0.0);
        const auto flow = [&](std::size_t e) { return scale * weights[e] * value_of(flows[e]); };
        const auto add = [&](std::size_t e, std::size_t length) {
            double *tails = sums + graph.edges[e].tail, *heads = sums + graph.edges[e].head;
            if (length == 1) {
                const double only = flow(e);
                *tails += only;
                *heads -= only;
                return;
            }
            std::array<double, longest_run> run;
            for (std::size_t k = 0; k < length; ++k) run[k] = flow(e + k);
            for (std::size_t k = 0; k < length; ++k) tails[k] += run[k];
            for (std::size_t k = 0; k < length; ++k) heads[k] -= run[k];
        };
        for (std::size_t begin = first; begin < last; begin += between_looks) {
            Watched::look();
            for_each_run(graph.edges, begin, std::min(begin + between_looks, last), add);
        }
    };
    if (n_channels != 1 || m < few_edges) {
        parallel_for(n_channels, n_threads, [&](int channel, int) {
            const auto c = static_cast<std::size_t>(channel);
            gather(p.data() + c * m, 0, m, out.data() + c * n);
        });
        return;
    }
    std::vector<double> others(n);
    parallel_for(2, n_threads, [&](int half, int) {
        gather(p.data(), half == 0 ? 0 : m / 2, half == 0 ? m / 2 : m,
               half == 0 ? out.data() : others.data());
    });
    for_shards(n, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] += others[i];
    });
}

}  // namespace

double penalty_value(const EdgeList& graph, std::span<const double> weights, double delta,
                     std::span<const double> u, int n_threads) {
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    CompensatedSum total;
    for (std::size_t first = 0; first < u.size(); first += n) {
        const double* channel = u.data() + first;
        total.add(sum_of(graph.edges.size(), n_threads, [&](std::size_t e) {
            const auto [tail, head] = graph.edges[e];
            const double x = std::abs(weights[e] * (channel[tail] - channel[head]));
            return x < delta ? 0.5 * x * (x / delta) : x - 0.5 * delta;
        }));
    }
    return total.value();
}

double penalty_conjugate(double delta, std::span<const double> p, int n_threads) {
    return conjugate_of(delta, p, n_threads);
}
double penalty_conjugate(double delta, std::span<const Rounded> p, int n_threads) {
    return conjugate_of(delta, p, n_threads);
}

void round_dual(std::span<const double> p, std::span<Rounded> out, int n_threads) {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] = rounded(p[i]);
    });
}

void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const double> p,
             double scale, std::span<double> out, int n_threads) {
    apply_adjoint(graph, weights, p, scale, out, n_threads);
}
void adjoint(const EdgeList& graph, std::span<const double> weights, std::span<const Rounded> p,
             double scale, std::span<double> out, int n_threads) {
    apply_adjoint(graph, weights, p, scale, out, n_threads);
}

}  // namespace graphtv

#include "solver/objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "graph/edge_run.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr std::size_t few_edges = 1 << 16;  // not worth two threads

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

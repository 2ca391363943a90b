#include "solver/edge_sweeps.hpp"

#include <algorithm>
#include <vector>

namespace graphtv {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void edge_sweeps(const EdgeList& graph, std::span<const double> weights,
                 std::span<const double> signal, std::span<const double> vertex_weights,
                 int n_sweeps, std::span<double> x, Watch& watch) {
    constexpr double least_share = 1e-3;  // of the largest vertex weight
    const auto n = at(graph.n_vertices);
    double largest = 0.0;
    for (const double c : vertex_weights) largest = std::max(largest, c);
    if (!(largest > 0.0)) return;
    std::vector<double> inverse(n), r(n);
    const std::size_t stride = vertex_weights.size() == 1 ? 0 : 1;
    for (std::size_t i = 0; i < n; ++i) {
        const double c = vertex_weights[i * stride];
        inverse[i] = 1.0 / std::max(c, least_share * largest);
        r[i] = c > 0.0 ? signal[i] : 0.0;
    }
    const std::size_t m = graph.edges.size();
    for (std::size_t e = 0; e < m; ++e) {
        const auto [tail, head] = graph.edges[e];
        r[at(tail)] -= inverse[at(tail)] * x[e];
        r[at(head)] += inverse[at(head)] * x[e];
    }
    const auto step = [&](std::size_t e) {
        const auto i = at(graph.edges[e].tail), j = at(graph.edges[e].head);
        const double move = (r[i] - r[j]) / (inverse[i] + inverse[j]);
        const double next = std::clamp(x[e] + move, -weights[e], weights[e]);
        const double change = next - x[e];
        r[i] -= inverse[i] * change;
        r[j] += inverse[j] * change;
        x[e] = next;
    };
    constexpr std::size_t edges_per_look = 1 << 16;
    for (int sweep = 0; sweep < n_sweeps; ++sweep)
        for (std::size_t first = 0; first < m; first += edges_per_look) {
            if (watch.expired()) return;
            const std::size_t last = std::min(first + edges_per_look, m);
            if (sweep % 2 == 0)
                for (std::size_t e = first; e < last; ++e) step(e);
            else
                for (std::size_t e = first; e < last; ++e) step(m - 1 - e);
        }
}

}  // namespace graphtv

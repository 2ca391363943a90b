#include "solver/fuse.hpp"

#include <vector>

#include "graph/union_find.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

void fuse(const GroupNorms& penalty, const EdgeList& graph, std::span<const double> p, double slack,
          std::span<const double> vertex_weights, std::span<double> u) {
    const std::size_t n = at(graph.n_vertices);
    const std::size_t n_channels = n == 0 ? 0 : u.size() / n;
    std::vector<double> sums(n), weights(n);
    penalty.for_each_part(n_channels, [&](std::size_t channel, std::size_t n_together) {
        UnionFind parts(graph.n_vertices);
        for_watched(penalty.n_groups(), [&](std::size_t g) {
            const auto group = penalty.group(g, channel, n_together);
            double squares = 0.0;
            group.for_each(
                [&](std::size_t, std::size_t, std::size_t i) { squares += p[i] * p[i]; });
            if (squares >= (1.0 - slack) * (1.0 - slack)) return;
            group.for_each([&](std::size_t e, std::size_t c, std::size_t) {
                if (c == 0) parts.unite(graph.edges[e].tail, graph.edges[e].head);
            });
        });
        for (std::size_t c = channel; c < channel + n_together; ++c) {
            Watched::look();
            double* values = u.data() + c * n;
            std::ranges::fill(sums, 0.0);
            std::ranges::fill(weights, 0.0);
            // About the value at the root, which reduces cancellation.
            for (std::size_t i = 0; i < n; ++i) {
                const auto root = at(parts.find(static_cast<Vertex>(i)));
                const double weight = vertex_weights.empty() ? 1.0 : vertex_weights[i];
                sums[root] += weight * (values[i] - values[root]);
                weights[root] += weight;
            }
            for (std::size_t i = 0; i < n; ++i) {
                const auto root = at(parts.find(static_cast<Vertex>(i)));
                if (root != i) values[i] = values[root] + sums[root] / weights[root];
            }
            for (std::size_t i = 0; i < n; ++i)
                if (at(parts.find(static_cast<Vertex>(i))) == i) values[i] += sums[i] / weights[i];
        }
    });
}

}  // namespace graphtv

#include "tv/forest.hpp"

#include <algorithm>

#include "tv/forest_sweep.hpp"

namespace graphtv {

ForestTV::ForestTV(const EdgeList& forest, std::span<const double> edge_weights,
                   EdgePenalty penalty, std::span<const double> vertex_weights)
    : block_(forest, edge_weights, penalty, vertex_weights),
      memory_(block_),
      partials_(static_cast<std::size_t>(block_.n_shards())) {}

void ForestTV::solve(std::span<const double> f, std::span<double> u, bool warm, int n_threads) {
    if (u.data() != f.data()) std::copy(f.begin(), f.end(), u.begin());
    block_.sweep(
        warm ? &memory_ : nullptr, workspace_, n_threads, nullptr, std::span(partials_),
        [&](std::size_t, std::size_t vertex) { return f[vertex]; },
        [&](std::size_t, std::size_t vertex, double, double value, Nothing&) {
            u[vertex] = value;
        });
}

void ForestTV::refine(std::span<const double> f, std::span<double> u) { block_.refine(f, u); }

void ForestTV::dual(std::span<const double> f, std::span<const double> u, std::span<double> p) {
    block_.dual(f, u, p);
}

std::size_t ForestTV::n_bytes() const {
    return block_.n_bytes() + memory_.n_bytes() + workspace_.n_bytes();
}

}  // namespace graphtv

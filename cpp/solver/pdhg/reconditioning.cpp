#include "solver/pdhg/reconditioning.hpp"

#include <algorithm>
#include <cmath>

#include "decomposition/heaviest_first.hpp"
#include "decomposition/nested_forests.hpp"
#include "solver/pdhg/forest_dual.hpp"

namespace graphtv {

namespace {

// An edge with |p| of at least this value counts as active.
constexpr double active_from = 1.0 - 1e-6;

// The forests are rebuilt if at least one edge in this many has become active or inactive.
constexpr std::size_t edges_per_change = 1000;

}  // namespace

Reconditioning::Reconditioning(const EdgeList& graph, std::span<const double> weights,
                               EdgePenalty penalty, std::size_t n_channels)
    : graph_(graph),
      weights_(weights),
      penalty_(penalty),
      n_channels_(n_channels),
      heaviest_first_(heaviest_first(weights)) {}

std::unique_ptr<DualVariable> Reconditioning::operator()(DualVariable& dual, BlendMemory memory,
                                                         int n_threads) {
    const auto m = weights_.size();
    std::vector<double> p(m * n_channels_);
    dual.get(p, n_threads);
    std::vector<bool> active(m, true);
    for (std::size_t i = 0; i < p.size(); ++i)
        if (std::abs(p[i]) < active_from) active[i % m] = false;
    std::size_t n_changes = 0;
    for (std::size_t e = 0; e < active_.size(); ++e) n_changes += active[e] != active_[e];
    if (!active_.empty() && n_changes * edges_per_change < m) return nullptr;

    std::vector<EdgeIndex> order(heaviest_first_);
    std::ranges::stable_partition(order, [&](EdgeIndex e) { return !active[at(e)]; });
    const auto labels = nested_forests(graph_, order);
    const auto n_forests = m == 0 ? 0 : 1 + *std::ranges::max_element(labels);
    active_.swap(active);
    auto better = std::make_unique<ForestDual>(
        std::make_unique<Forests>(graph_, weights_, labels, n_forests, penalty_), penalty_,
        n_channels_, memory);
    better->set(p, n_threads);
    return better;
}

}  // namespace graphtv

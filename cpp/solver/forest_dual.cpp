#include "solver/forest_dual.hpp"

#include <algorithm>

namespace graphtv {

ForestDual::ForestDual(const EdgeList& graph, std::span<const double> weights, double delta,
                       std::size_t n_channels, BlendMemory memory,
                       std::span<const std::int32_t> labels, int n_forests)
    : n_vertices_(static_cast<std::size_t>(graph.n_vertices)),
      n_edges_(graph.edges.size()),
      n_channels_(n_channels),
      delta_(delta),
      divergence_(n_vertices_ * n_channels),
      p_(delta > 0.0 ? n_edges_ * n_channels : 0),
      sum_(n_edges_ * n_channels) {
    // Edges sorted by forest, each forest in the order of the edge list.
    std::vector<std::size_t> begin(static_cast<std::size_t>(n_forests) + 2);
    for (const auto label : labels) ++begin[static_cast<std::size_t>(label) + 2];
    for (std::size_t l = 2; l < begin.size(); ++l) begin[l] += begin[l - 1];
    std::vector<Edge> edges(n_edges_);
    std::vector<double> sorted_weights(n_edges_);
    std::vector<EdgeIndex> numbers(n_edges_);
    for (std::size_t e = 0; e < n_edges_; ++e) {
        const auto i = begin[static_cast<std::size_t>(labels[e]) + 1]++;
        edges[i] = graph.edges[e];
        sorted_weights[i] = weights[e];
        numbers[i] = static_cast<EdgeIndex>(e);
    }
    forests_.reserve(static_cast<std::size_t>(n_forests));
    parts_.reserve(static_cast<std::size_t>(n_forests) * n_channels);
    int most_shards = 0;
    for (std::size_t l = 0; l < static_cast<std::size_t>(n_forests); ++l) {
        const auto first = begin[l], size = begin[l + 1] - first;
        const auto& forest = forests_.emplace_back(
            EdgeList{graph.n_vertices, {edges.data() + first, size}},
            std::span<const double>(sorted_weights.data() + first, size), delta,
            std::span<const double>{}, std::span<const EdgeIndex>(numbers.data() + first, size));
        most_shards = std::max(most_shards, forest.n_shards());
        for (std::size_t c = 0; c < n_channels; ++c)
            parts_.push_back({ForestMemory(forest), std::vector<double>(forest.n_slots()),
                              std::vector<double>(memory.point ? forest.n_slots() : 0),
                              std::vector<double>(memory.anchor ? forest.n_slots() : 0)});
    }
    movements_.resize(static_cast<std::size_t>(most_shards));
}

DualVariable::Movement ForestDual::step(std::span<const double> ubar, double t, const Blend& blend,
                                        int n_threads, Watch& watch) {
    std::fill(divergence_.begin(), divergence_.end(), 0.0);
    double squared = 0.0;
    for (std::size_t l = 0; l < forests_.size(); ++l) {
        if (delta_ > 0.0) forests_[l].set_delta(delta_ / t);
        for (std::size_t c = 0; c < n_channels_; ++c) {
            if (!sweep(l, c, ubar, t, blend, n_threads, watch)) {
                collect(n_threads);
                return {false, squared};
            }
            ++n_sweeps_;
            for (int s = 0; s < forests_[l].n_shards(); ++s)
                squared += movements_[static_cast<std::size_t>(s)];
        }
    }
    return {true, squared};
}

bool ForestDual::sweep(std::size_t forest, std::size_t channel, std::span<const double> ubar,
                       double t, const Blend& blend, int n_threads, Watch& watch) {
    Part& here = part(forest, channel);
    double* q = here.q.data();
    double* point = here.point.data();
    const double* anchor = here.anchor.data();
    const double* u = ubar.data() + channel * n_vertices_;
    double* divergence = divergence_.data() + channel * n_vertices_;
    const double inverse = 1.0 / t;
    const auto run = [&](const auto& from) {
        // The slot's z is not kept: prox and ū give q̂ = z - v, and q̂ - point = ū/t - v.
        return forests_[forest].sweep(
            &here.warm, workspace_, n_threads, &watch, std::span(movements_),
            [&](std::size_t slot, std::size_t vertex) { return from(slot) + inverse * u[vertex]; },
            [&](std::size_t slot, std::size_t vertex, double z, double v, double& movement) {
                const double moved = inverse * u[vertex] - v;
                movement += moved * moved;
                q[slot] = z - v;
                divergence[vertex] += z - v;
            });
    };
    if (here.point.empty()) return run([&](std::size_t slot) { return q[slot]; });
    if (here.anchor.empty())
        return run([&](std::size_t slot) {
            return point[slot] = blend(point[slot], q[slot], 0.0);
        });
    return run([&](std::size_t slot) {
        return point[slot] = blend(point[slot], q[slot], anchor[slot]);
    });
}

// Kᵀp̂ = Σ_l q̂_l, forest after forest.
void ForestDual::collect(int n_threads) {
    std::fill(divergence_.begin(), divergence_.end(), 0.0);
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double* q = part(l, c).q.data();
            double* divergence = divergence_.data() + c * n_vertices_;
            forests_[l].for_each_slot(n_threads, [&](std::size_t slot, std::size_t vertex) {
                divergence[vertex] += q[slot];
            });
        }
}

double ForestDual::anchor(int) {
    double squared = 0.0;
    for (Part& here : parts_) {
        for (std::size_t i = 0; i < here.anchor.size(); ++i) {
            const double moved = here.q[i] - here.anchor[i];
            squared += moved * moved;
            here.anchor[i] = here.q[i];
        }
    }
    return squared;
}

double ForestDual::squared_norm(int n_threads) {
    get(p_);
    return sum_.compensated(p_.size(), n_threads, [&](std::size_t e) { return p_[e] * p_[e]; });
}

void ForestDual::get(std::span<double> p) {
    std::vector<double> q;
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            q = part(l, c).q;
            forests_[l].recover(q, p.subspan(c * n_edges_, n_edges_));
        }
}

void ForestDual::set(std::span<const double> p, int n_threads) {
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            Part& here = part(l, c);
            forests_[l].adjoint(p.subspan(c * n_edges_, n_edges_), here.q);
            if (!here.point.empty()) here.point = here.q;
            if (!here.anchor.empty()) here.anchor = here.q;
        }
    collect(n_threads);
}

}  // namespace graphtv

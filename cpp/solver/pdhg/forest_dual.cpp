#include "solver/pdhg/forest_dual.hpp"

#include <algorithm>

#include "parallel/watch.hpp"
#include "terms/penalty.hpp"
#include "terms/sum.hpp"
#include "tv/forest_sweep.hpp"

namespace graphtv {

ForestDual::ForestDual(Forests& forests, EdgePenalty penalty, std::size_t n_channels,
                       BlendMemory memory)
    : forests_(forests),
      penalty_(penalty),
      n_channels_(n_channels),
      divergence_(forests.n_vertices() * n_channels),
      p_(penalty.is_huber() ? forests.n_edges() * n_channels : 0) {
    parts_.reserve(forests.size() * n_channels);
    int most_shards = 0;
    for (std::size_t l = 0; l < forests.size(); ++l) {
        const auto n_slots = forests[l].n_slots();
        most_shards = std::max(most_shards, forests[l].n_shards());
        for (std::size_t c = 0; c < n_channels; ++c) {
            Watched::look();
            parts_.push_back({ForestMemory(forests[l]), std::vector<double>(n_slots),
                              std::vector<double>(memory.point ? n_slots : 0),
                              std::vector<double>(memory.anchor ? n_slots : 0)});
        }
    }
    movements_.resize(static_cast<std::size_t>(most_shards));
}

ForestDual::ForestDual(std::unique_ptr<Forests> forests, EdgePenalty penalty,
                       std::size_t n_channels, BlendMemory memory)
    : ForestDual(*forests, penalty, n_channels, memory) {
    owned_ = std::move(forests);
}

DualVariable::Movement ForestDual::step(std::span<const double> ubar, double t, const Blend& blend,
                                        int n_threads, Watch& watch) {
    std::fill(divergence_.begin(), divergence_.end(), 0.0);
    double squared = 0.0;
    if (penalty_.is_huber()) forests_.set_penalty(penalty_.over(t));
    for (std::size_t l = 0; l < forests_.size(); ++l) {
        for (std::size_t c = 0; c < n_channels_; ++c) {
            if (!sweep(l, c, ubar, t, blend, n_threads, watch)) return {false, squared};
            ++n_sweeps_;
            for (int s = 0; s < forests_[l].n_shards(); ++s)
                squared += movements_[static_cast<std::size_t>(s)].total();
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
    const double* u = ubar.data() + channel * forests_.n_vertices();
    double* divergence = divergence_.data() + channel * forests_.n_vertices();
    const double inverse = 1.0 / t;
    const auto run = [&](const auto& from) {
        // z of the slot is not stored: prox and ū give q̂ = z - v and q̂ - point = ū/t - v.
        return forests_[forest].sweep(
            &here.warm, forests_.workspace(), n_threads, &watch, std::span(movements_),
            [=]<std::size_t n>(Neighbours<n> wide, std::size_t slot, std::size_t vertex) {
                return from(wide, slot) + Pack<n>(inverse) * Pack<n>::load(u + vertex);
            },
            [=]<std::size_t n>(Neighbours<n>, std::size_t slot, std::size_t vertex, Pack<n> z,
                               Pack<n> v, PackSum& movement) {
                const Pack<n> moved = Pack<n>(inverse) * Pack<n>::load(u + vertex) - v;
                const Pack<n> arrival = z - v;
                movement.add(moved * moved);
                arrival.store(q + slot);
                (Pack<n>::load(divergence + vertex) + arrival).store(divergence + vertex);
            });
    };
    if (here.point.empty())
        return run([=]<std::size_t n>(Neighbours<n>, std::size_t slot) {
            return Pack<n>::load(q + slot);
        });
    const bool has_anchor = !here.anchor.empty();
    return run([=]<std::size_t n>(Neighbours<n>, std::size_t slot) {
        Pack<n> start = Pack<n>(blend.point) * Pack<n>::load(point + slot) +
                        Pack<n>(blend.arrival) * Pack<n>::load(q + slot);
        if (has_anchor) start = start + Pack<n>(blend.anchor) * Pack<n>::load(anchor + slot);
        start.store(point + slot);
        return start;
    });
}

// Kᵀp̂ = Σ_l q̂_l, forest after forest.
void ForestDual::collect(int n_threads) {
    std::fill(divergence_.begin(), divergence_.end(), 0.0);
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double* q = part(l, c).q.data();
            double* divergence = divergence_.data() + c * forests_.n_vertices();
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

double ForestDual::squared_length(int n_threads) const {
    double squared = 0.0;
    for (const Part& here : parts_)
        squared += quick_sum_of(here.q.size(), n_threads,
                                [&](std::size_t i) { return here.q[i] * here.q[i]; });
    return squared;
}

double ForestDual::conjugate(int n_threads) {
    if (!penalty_.is_huber()) return 0.0;
    get(p_, n_threads);
    return EdgewisePenalty(penalty_).conjugate(std::span<const double>(p_), n_threads);
}

void ForestDual::get(std::span<double> p, int n_threads) {
    std::vector<double> q;
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            q = part(l, c).q;
            forests_[l].recover(q, p.subspan(c * forests_.n_edges(), forests_.n_edges()),
                                n_threads);
        }
}

void ForestDual::set(std::span<const double> p, int n_threads) {
    for (std::size_t l = 0; l < forests_.size(); ++l)
        for (std::size_t c = 0; c < n_channels_; ++c) {
            Part& here = part(l, c);
            forests_[l].adjoint(p.subspan(c * forests_.n_edges(), forests_.n_edges()), here.q,
                                n_threads);
            if (!here.point.empty()) here.point = here.q;
            if (!here.anchor.empty()) here.anchor = here.q;
        }
    collect(n_threads);
}

}  // namespace graphtv

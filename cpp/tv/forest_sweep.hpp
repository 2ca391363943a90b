// Passes over the slots of a forest, and the proximal step inside such a pass. The caller's
// operations on z and u are compiled into the pass.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <type_traits>

#include "parallel/parallel_for.hpp"
#include "tv/forest_block.hpp"
#include "tv/lanes.hpp"

namespace graphtv {

inline ForestBlock::Extent ForestBlock::extent_of(const Bundle& bundle) const {
    const auto& lattice = std::get<LatticeForest>(layout_);
    const auto& begin = lattice.chain_begin;
    const auto first = at(bundle.first);
    return {at(begin[first + 1] - begin[first]), at(bundle.last - bundle.first),
            at(lattice.chain_start[first]), at(lattice.stride), at(bundle.pitch)};
}

// Visits vertices in memory order, except that chains along rows are visited in blocks of
// neighbouring vertices. In scratch memory, panels of `lanes` lanes follow each other.
template <class Visit>
void ForestBlock::visit_bundle(const Bundle& bundle, std::size_t lanes, const Visit& visit) const {
    const Extent extent = extent_of(bundle);
    const auto length = extent.length, width = extent.width, start = extent.start;
    const auto stride = extent.stride, pitch = extent.pitch;
    const auto visit_all = [&]<std::size_t n_lanes>() {
        const auto place = [&](std::size_t c, std::size_t k) {
            return (c / n_lanes * length + k) * n_lanes + c % n_lanes;
        };
        constexpr std::size_t block = 16;
        for (std::size_t from = 0; from < length; from += block) {
            const auto to = std::min(from + block, length);
            if (pitch == 1 && n_lanes > 1) {
                for (auto k = from; k < to; ++k)
                    for (std::size_t c = 0; c < width; ++c)
                        visit(place(c, k), start + c + k * stride);
            } else {
                for (std::size_t c = 0; c < width; ++c)
                    for (auto k = from; k < to; ++k)
                        visit(place(c, k), start + c * pitch + k * stride);
            }
        }
    };
    if (lanes == 1) {
        visit_all.template operator()<1>();
    } else {
        visit_all.template operator()<chain_lanes>();
    }
}

template <class Row, class Square, class Visit>
void ForestBlock::visit_panels(const Bundle& bundle, const Row& row, const Square& square,
                               const Visit& visit) const {
    const auto [length, width, start, stride, pitch] = extent_of(bundle);
    const auto full = width / chain_lanes * chain_lanes;
    std::size_t k = 0;
    if (pitch == 1) {
        for (; k < length; ++k)
            for (std::size_t c = 0; c < full; c += chain_lanes)
                row(c * length + k * chain_lanes, start + c + k * stride);
    } else if (stride == 1 && full == width) {
        for (; k + chain_lanes <= length; k += chain_lanes)
            for (std::size_t c = 0; c < full; c += chain_lanes)
                square(c * length + k * chain_lanes, start + c * pitch + k, pitch);
    }
    for (std::size_t c = 0; c < width; ++c)
        for (auto j = c < full ? k : 0; j < length; ++j)
            visit((c / chain_lanes * length + j) * chain_lanes + c % chain_lanes,
                  start + c * pitch + j * stride);
}

template <class Visit>
void ForestBlock::visit_strip(const Strip& strip, std::size_t lanes, const Visit& visit) const {
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto from = static_cast<std::size_t>(strip.begin[l]);
        const auto to =
            static_cast<std::size_t>(lanes == 1 ? strip.begin.back() : strip.begin[l + 1]);
        for (auto i = from; i < to; ++i) visit((i - from) * lanes + l, i);
    }
}

template <class Partial, class Load, class Store>
bool ForestBlock::sweep(ForestMemory* memory, ForestWorkspace& workspace, int n_threads,
                        Watch* watch, std::span<Partial> partials, const Load& load,
                        const Store& store) const {
    workspace.reserve(*this, std::max(1, std::min(n_threads, n_shards())));
    const auto begin = tree_begin();
    const auto vertex = vertices();
    std::atomic<bool> stopped = false;
    constexpr Neighbours<1> one;
    constexpr Neighbours<chain_lanes> four;
    constexpr bool takes_packs =
        std::is_invocable_v<const Load&, decltype(four), std::size_t, std::size_t>;
    const auto load_one = [&](std::size_t slot, std::size_t v) {
        if constexpr (takes_packs)
            return load(one, slot, v).value;
        else
            return load(slot, v);
    };
    const auto store_one = [&](std::size_t slot, std::size_t v, double z, double u, Partial& sums) {
        if constexpr (takes_packs)
            store(one, slot, v, Pack<1>(z), Pack<1>(u), sums);
        else
            store(slot, v, z, u, sums);
    };

    const auto load_bundle = [&](const Bundle& bundle, std::size_t lanes, double* z) {
        const auto visit = [&](std::size_t i, std::size_t v) { z[i] = load_one(v, v); };
        if constexpr (takes_packs)
            if (lanes == chain_lanes)
                return visit_panels(
                    bundle, [&](std::size_t i, std::size_t v) { load(four, v, v).store(z + i); },
                    [&](std::size_t i, std::size_t v, std::size_t pitch) {
                        const auto row = [&](std::size_t r) {
                            return load(four, v + r * pitch, v + r * pitch);
                        };
                        Pack<4> rows[] = {row(0), row(1), row(2), row(3)};
                        transpose(rows);
                        for (std::size_t r = 0; r < 4; ++r) rows[r].store(z + i + r * chain_lanes);
                    },
                    visit);
        visit_bundle(bundle, lanes, visit);
    };
    const auto store_bundle = [&](const Bundle& bundle, std::size_t lanes, const double* z,
                                  const double* u, Partial& partial) {
        Partial sums = partial;  // in registers: no store can alias it
        const auto visit = [&](std::size_t i, std::size_t v) { store_one(v, v, z[i], u[i], sums); };
        const auto store_panels = [&] {
            if constexpr (takes_packs)
                visit_panels(
                    bundle,
                    [&](std::size_t i, std::size_t v) {
                        store(four, v, v, Pack<4>::load(z + i), Pack<4>::load(u + i), sums);
                    },
                    [&](std::size_t i, std::size_t v, std::size_t pitch) {
                        const auto read = [&](const double* from, std::size_t r) {
                            return Pack<4>::load(from + i + r * chain_lanes);
                        };
                        Pack<4> zs[] = {read(z, 0), read(z, 1), read(z, 2), read(z, 3)};
                        Pack<4> us[] = {read(u, 0), read(u, 1), read(u, 2), read(u, 3)};
                        transpose(zs);
                        transpose(us);
                        for (std::size_t r = 0; r < 4; ++r)
                            store(four, v + r * pitch, v + r * pitch, zs[r], us[r], sums);
                    },
                    visit);
        };
        if (takes_packs && lanes == chain_lanes) {
            store_panels();
        } else {
            visit_bundle(bundle, lanes, visit);
        }
        partial = sums;
    };
    const auto sweep_bundle = [&](const Bundle& bundle, bool has_solution,
                                  ForestWorkspace::Worker& worker, Partial& partial) {
        double *z = worker.z.data(), *u = worker.u.data();
        const auto lanes = memory ? bundle.lanes : 1;
        load_bundle(bundle, lanes, z);
        if (memory) {
            solve_bundle(bundle, memory->jumps.data() + bundle.memory, has_solution, worker);
        } else {
            solve_cold(bundle.first, bundle.last, worker);
        }
        store_bundle(bundle, lanes, z, u, partial);
    };
    const auto sweep_strip = [&](const Shard& shard, const Strip& strip, bool has_solution,
                                 ForestWorkspace::Worker& worker, Partial& partial) {
        double *z = worker.z.data(), *u = worker.u.data();
        const auto lanes = memory ? strip.lanes : 1;
        visit_strip(strip, lanes, [&](std::size_t i, std::size_t slot) {
            z[i] = load_one(slot, at(vertex[slot]));
        });
        if (memory) {
            solve_strip(strip, memory->jumps.data() + strip.memory, has_solution, worker);
        } else {
            solve_cold(shard.first, shard.last, worker);
        }
        visit_strip(strip, lanes, [&](std::size_t i, std::size_t slot) {
            store_one(slot, at(vertex[slot]), z[i], u[i], partial);
        });
    };
    const auto sweep_trees = [&](const Shard& shard, ForestWorkspace::Worker& worker,
                                 Partial& partial) {
        const auto from = at(begin[at(shard.first)]), to = at(begin[at(shard.last)]);
        double *z = workspace.z_.data(), *u = workspace.u_.data();
        for (auto i = from; i < to; ++i) z[i] = load_one(i, at(vertex[i]));
        for (Vertex t = shard.first; t < shard.last; ++t)
            solve_tree(t, {z, workspace.z_.size()}, {u, workspace.u_.size()}, worker);
        for (auto i = from; i < to; ++i) store_one(i, at(vertex[i]), z[i], u[i], partial);
    };
    const auto sweep_shard = [&](int task, int number) {
        if (stopped.load(std::memory_order_relaxed)) return;
        if (watch && number == 0 && watch->expired()) {
            stopped.store(true, std::memory_order_relaxed);
            return;
        }
        const Shard shard = shards_[at(task)];
        auto& worker = workspace.workers_[at(number)];
        const bool has_solution = memory && is_linear() && memory->is_solved[at(task)];
        Partial partial{};
        if (is_lattice()) {
            for (Vertex b = shard.first; b < shard.last; ++b)
                sweep_bundle(bundles_[at(b)], has_solution, worker, partial);
        } else if (is_linear()) {
            sweep_strip(shard, strips_[at(task)], has_solution, worker, partial);
        } else {
            sweep_trees(shard, worker, partial);
        }
        if (memory && is_linear()) memory->is_solved[at(task)] = 1;
        partials[at(task)] = partial;
    };
    parallel_for(n_shards(), n_threads, std::cref(sweep_shard));  // a copy would allocate
    return !stopped.load();
}

template <class Body>
void ForestBlock::for_each_slot(int n_threads, const Body& body) const {
    const auto visit_shard = [&](int task, int) {
        const Shard shard = shards_[at(task)];
        if (is_lattice()) {
            for (Vertex b = shard.first; b < shard.last; ++b)
                visit_bundle(bundles_[at(b)], chain_lanes,
                             [&](std::size_t, std::size_t v) { body(v, v); });
        } else {
            const auto begin = tree_begin(), vertex = vertices();
            for (auto i = at(begin[at(shard.first)]); i < at(begin[at(shard.last)]); ++i)
                body(i, at(vertex[i]));
        }
    };
    parallel_for(n_shards(), n_threads, std::cref(visit_shard));
}

}  // namespace graphtv

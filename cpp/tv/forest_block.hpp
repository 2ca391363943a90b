// One forest of a preconditioner: its layout in memory, and the proximal step
//
//     u = argmin ½ Σ c_i (u_i - z_i)² + Σ_e h(w_e (u_i - u_j))   over the edges e of the forest,
//
// with h = |·| or its Huber relaxation, done in one pass together with whatever the caller computes
// from z and u. The layout is constant and shared: what one signal leaves behind for the next is a
// ForestMemory, scratch memory is a ForestWorkspace that all forests of a solver share.
//
// Forest variables such as q_l = K_lᵀp_l live in slots. A linear forest is stored as compact chains,
// any other as rooted trees, and slots are positions therein: vertices without an edge have none.
// Chains along an axis of a grid need no index at all: there slots are vertices. In scratch memory
// the vertices of several chains lie side by side, as the warm solver wants them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/chain_forest.hpp"
#include "graph/lattice_forest.hpp"
#include "graph/rooted_forest.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/watch.hpp"
#include "tv/huber.hpp"
#include "tv/lanes.hpp"
#include "tv/rounded.hpp"
#include "tv/tree.hpp"
#include "tv/warm_chains.hpp"

namespace graphtv {

class ForestBlock;

// As many neighbours at once: an argument that says the type.
template <std::size_t n>
using Neighbours = std::integral_constant<std::size_t, n>;

// Where the chains of one signal's last solution jump, from which the next one starts.
struct ForestMemory {
    ForestMemory() = default;
    explicit ForestMemory(const ForestBlock& forest);
    std::size_t n_bytes() const;

    std::vector<std::int8_t> jumps;       // panel after panel
    std::vector<std::uint8_t> is_solved;  // by shard: whether there is a last solution
};

// Scratch memory, by worker; z and u of trees by position.
class ForestWorkspace {
  public:
    void reserve(const ForestBlock& forest, int n_workers);
    void release() { *this = {}; }
    std::size_t n_bytes() const;

  private:
    friend class ForestBlock;
    struct Worker {
        Scratch<double> z, u, weights;  // of a bundle of chains, or of a shard
        WarmChainWorkspace chain;
        TreeWorkspace tree;
        HuberWorkspace huber;
    };
    std::vector<Worker> workers_;
    Scratch<double> z_, u_;
};

class ForestBlock {
  public:
    // delta = 0: total variation; delta > 0: its Huber relaxation. Vertex weights c are positive, or
    // empty for ones. `vertex_numbers` says what the caller calls the vertices (empty: 0, 1, …); all
    // else that is indexed by vertex goes by these. Throws std::invalid_argument on a cycle.
    // Chains have their weights side by side, or look them up, which is slower, but takes no memory:
    // then the edge weights must outlive the object, unless it is told others by rename_edges.
    ForestBlock(const EdgeList& forest, std::span<const double> edge_weights, double delta = 0.0,
                std::span<const double> vertex_weights = {},
                std::span<const Vertex> vertex_numbers = {}, bool looks_weights_up = false);

    // Says what the caller calls the edges, if not 0, 1, …, and their weights by these numbers, which
    // must outlive the object.
    void rename_edges(std::span<const EdgeIndex> numbers, std::span<const double> weights);

    std::size_t n_slots() const { return n_slots_; }
    int n_shards() const { return static_cast<int>(shards_.size()); }
    bool is_linear() const { return !std::holds_alternative<RootedForest>(layout_); }
    // Whether slots are vertices, and whether every vertex has an edge.
    bool is_lattice() const { return std::holds_alternative<LatticeForest>(layout_); }
    bool covers(std::size_t n_vertices) const {
        return static_cast<std::size_t>(tree_begin().back()) == n_vertices;
    }
    std::size_t n_bytes() const;

    // Another width of the Huber penalty, if there was one from the beginning.
    void set_delta(double delta) { delta_ = delta; }

    // The proximal step: z = load(slot, vertex) for every vertex that has an edge, then
    // store(slot, vertex, z, u, partial), where partials[shard] gathers what is to be summed up.
    // Shards do not depend on the number of threads. False if the watch expired: the shards that
    // were not reached are left as they were. Without a memory the chains start cold. A load and a
    // store that take Neighbours<n> before the slot deal with Pack<n>, for n vertices from the given
    // one on; n is 1 but on lattices, where slots are vertices.
    template <class Partial, class Load, class Store>
    bool sweep(ForestMemory* memory, ForestWorkspace& workspace, int n_threads, Watch* watch,
               std::span<Partial> partials, const Load& load, const Store& store) const;

    // body(slot, vertex) for every vertex that has an edge, by as many threads.
    template <class Body>
    void for_each_slot(int n_threads, const Body& body) const;

    // q = K_lᵀp_l by slot, p by the caller's edge numbers.
    void adjoint(std::span<const double> p, std::span<double> q, int n_threads) const;

    // The p in [-1, 1] with K_lᵀp_l = q, from leaves to root, by the caller's edge numbers. `q` is
    // destroyed, unless recovery is said to keep it.
    bool recovery_keeps_q() const { return std::holds_alternative<ChainForest>(layout_); }
    void recover(std::span<double> q, std::span<double> p, int n_threads) const;
    void recover(std::span<double> q, std::span<Rounded> p, int n_threads) const;

    // Recomputes the value of every piece of u = prox(f), by vertex, free of the rounding of long
    // message chains.
    void refine(std::span<const double> f, std::span<double> u) const;

    // p by the caller's edge numbers with K_lᵀp_l = f - u, where u = prox(f), both by vertex: exactly
    // ±1 wherever u jumps.
    void dual(std::span<const double> f, std::span<const double> u, std::span<double> p) const;

  private:
    friend struct ForestMemory;
    friend class ForestWorkspace;

    // Chains [first, last) of a lattice, all of one length, whose starts are `pitch` apart.
    struct Bundle {
        Vertex first, last, pitch;
        std::size_t memory;  // where its jumps begin
        std::size_t lanes;   // of its panels
    };
    // A shard of chains laid out as one panel: the positions [begin[l], begin[l + 1]) are lane l.
    struct Strip {
        std::array<Vertex, chain_lanes + 1> begin;
        std::size_t length;  // of the longest lane
        std::size_t memory;
        std::size_t lanes;
    };
    // Trees, or bundles of chains, [first, last), by number.
    struct Shard {
        Vertex first, last;
    };
    static constexpr Vertex vertices_per_shard = 8192;
    std::span<const Vertex> tree_begin() const;
    std::span<const Vertex> vertices() const;
    void make_bundles();
    void make_shards();
    void make_strips();
    void add_panel(std::size_t length, std::size_t lanes);
    void mark_ends(const Strip& strip, std::int8_t* jumps) const;
    bool has_one_weight() const {
        const auto* lattice = std::get_if<LatticeForest>(&layout_);
        return lattice != nullptr && lattice->weight.size() == 1;
    }
    // Of the edge to the next position of a chain, 0 at its end.
    double weight_at(std::size_t position) const {
        return weight_.empty()
                   ? look_up(std::get<ChainForest>(layout_).edge[position], edge_weights_.data())
                   : weight_[position];
    }
    // Without a branch, which would often be mispredicted.
    static double look_up(EdgeIndex e, const double* weights) {
        const auto bits = std::bit_cast<std::uint64_t>(weights[std::max(e, 0)]);
        const auto mask = static_cast<std::uint64_t>(-static_cast<std::int64_t>(e >= 0));
        return std::bit_cast<double>(bits & mask);
    }
    std::span<const double> lattice_weights(Vertex chain) const;
    // In the worker's memory, unless they lie side by side anyway.
    ChainWeights chain_weights(Vertex chain, ForestWorkspace::Worker& worker) const;
    // The trees, or chains, of a shard, by number.
    Shard trees_of(int shard) const;
    std::pair<std::size_t, std::size_t> slots_of(int shard) const;
    // body(shard) for every one, with a look before each.
    template <class Body>
    void for_each_shard(int n_threads, const Body& body) const;
    template <class Body>
    void for_each_chain_edge(Shard chains, const Body& body) const;
    // put(edge, p) for every edge.
    template <class Put>
    void recover_each(std::span<double> q, int n_threads, const Put& put) const;
    void solve_bundle(const Bundle& bundle, std::int8_t* jumps, bool has_solution,
                      ForestWorkspace::Worker& worker) const;
    void solve_strip(const Strip& strip, std::int8_t* jumps, bool has_solution,
                     ForestWorkspace::Worker& worker) const;
    void solve_cold(Vertex first, Vertex last, ForestWorkspace::Worker& worker) const;
    void solve_tree(Vertex t, std::span<const double> z, std::span<double> u,
                    ForestWorkspace::Worker& worker) const;

    // visit(place in scratch memory, vertex or position), for a sweep over one shard.
    template <class Visit>
    void visit_bundle(const Bundle& bundle, std::size_t lanes, const Visit& visit) const;
    template <class Visit>
    void visit_strip(const Strip& strip, std::size_t lanes, const Visit& visit) const;
    // The same for panels of all lanes: row(place, vertex) for four chains at the same vertex, if
    // they are neighbours; square(place, vertex, pitch) for four neighbours on each of four chains;
    // visit for those left over.
    template <class Row, class Square, class Visit>
    void visit_panels(const Bundle& bundle, const Row& row, const Square& square,
                      const Visit& visit) const;

    double delta_;
    std::variant<ChainForest, LatticeForest, RootedForest> layout_;
    std::vector<double> vertex_weights_;    // by position, or empty
    std::vector<double> weight_;            // of chains, by position, or else
    std::span<const double> edge_weights_;  // by the caller's edge numbers
    std::vector<double> largest_weight_;    // of a lattice, by chain
    std::vector<Bundle> bundles_;           // of a lattice
    std::vector<Strip> strips_;             // of other chains, by shard
    std::vector<Shard> shards_;
    std::size_t n_slots_ = 0, n_jumps_ = 0, largest_tree_ = 0, largest_bundle_ = 0;
    std::size_t longest_lane_ = 0, longest_panel_ = 0;  // of panels of one lane, and of several
};

// In the order of memory, but for blocks of neighbouring vertices where chains are rows. In scratch
// memory, panels of as many lanes follow each other.
template <class Visit>
void ForestBlock::visit_bundle(const Bundle& bundle, std::size_t lanes, const Visit& visit) const {
    const auto& lattice = std::get<LatticeForest>(layout_);
    const auto& begin = lattice.chain_begin;
    const auto first = static_cast<std::size_t>(bundle.first);
    const auto length = static_cast<std::size_t>(begin[first + 1] - begin[first]);
    const auto width = static_cast<std::size_t>(bundle.last - bundle.first);
    const auto stride = static_cast<std::size_t>(lattice.stride);
    const auto pitch = static_cast<std::size_t>(bundle.pitch);
    const auto start = static_cast<std::size_t>(lattice.chain_start[first]);
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
    const auto& lattice = std::get<LatticeForest>(layout_);
    const auto& begin = lattice.chain_begin;
    const auto first = static_cast<std::size_t>(bundle.first);
    const auto length = static_cast<std::size_t>(begin[first + 1] - begin[first]);
    const auto width = static_cast<std::size_t>(bundle.last - bundle.first);
    const auto stride = static_cast<std::size_t>(lattice.stride);
    const auto pitch = static_cast<std::size_t>(bundle.pitch);
    const auto start = static_cast<std::size_t>(lattice.chain_start[first]);
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
    const auto at = [](auto i) { return static_cast<std::size_t>(i); };
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
        Partial sums = partial;  // in registers, where no store can alias it
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
    parallel_for(n_shards(), n_threads, std::cref(sweep_shard));  // a copy would take memory
    return !stopped.load();
}

template <class Body>
void ForestBlock::for_each_slot(int n_threads, const Body& body) const {
    const auto at = [](auto i) { return static_cast<std::size_t>(i); };
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

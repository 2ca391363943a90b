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
// Chains along an axis of a grid need no index at all: there slots are vertices, and neighbouring
// chains are transposed in bundles.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "graph/chain_forest.hpp"
#include "graph/lattice_forest.hpp"
#include "graph/rooted_forest.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/watch.hpp"
#include "tv/huber.hpp"
#include "tv/tree.hpp"
#include "tv/warm_chain.hpp"

namespace graphtv {

class ForestBlock;

// The pieces of the chains of one signal's last solution, from which the next one starts.
struct ForestMemory {
    explicit ForestMemory(const ForestBlock& forest);
    std::size_t n_bytes() const;

    std::vector<std::int32_t> piece_ends, piece_counts;
};

// Scratch memory, by worker; z and u of trees by position.
class ForestWorkspace {
  public:
    void reserve(const ForestBlock& forest, int n_workers);
    std::size_t n_bytes() const;

  private:
    friend class ForestBlock;
    struct Worker {
        Scratch<double> z, u;  // a bundle of chains
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
    ForestBlock(const EdgeList& forest, std::span<const double> edge_weights, double delta = 0.0,
                std::span<const double> vertex_weights = {},
                std::span<const Vertex> vertex_numbers = {});

    // Says what the caller calls the edges, if not 0, 1, … .
    void rename_edges(std::span<const EdgeIndex> numbers);

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
    // were not reached are left as they were. Without a memory the chains start cold.
    template <class Partial, class Load, class Store>
    bool sweep(ForestMemory* memory, ForestWorkspace& workspace, int n_threads, Watch* watch,
               std::span<Partial> partials, const Load& load, const Store& store) const;

    // body(slot, vertex) for every vertex that has an edge, by as many threads.
    template <class Body>
    void for_each_slot(int n_threads, const Body& body) const;

    // q = K_lᵀp_l by slot, p by the caller's edge numbers.
    void adjoint(std::span<const double> p, std::span<double> q, int n_threads) const;

    // The p in [-1, 1] with K_lᵀp_l = q, from leaves to root, by the caller's edge numbers. `q` is
    // destroyed.
    void recover(std::span<double> q, std::span<double> p, int n_threads) const;

    // Recomputes the value of every piece of u = prox(f), by vertex, free of the rounding of long
    // message chains.
    void refine(std::span<const double> f, std::span<double> u) const;

    // p by the caller's edge numbers with K_lᵀp_l = f - u, where u = prox(f), both by vertex: exactly
    // ±1 wherever u jumps.
    void dual(std::span<const double> f, std::span<const double> u, std::span<double> p) const;

  private:
    friend struct ForestMemory;
    friend class ForestWorkspace;

    // Chains [first, last) of the forest side by side in memory, all of one length.
    struct Bundle {
        Vertex first, last;
    };
    // Trees, or bundles of chains, [first, last), by number.
    struct Shard {
        Vertex first, last;
    };
    static constexpr Vertex vertices_per_shard = 8192;
    // Between the chains of a bundle in scratch memory, lest they all fall into the same cache set.
    static constexpr std::size_t bundle_padding = 8;

    std::span<const Vertex> tree_begin() const;
    std::span<const Vertex> vertices() const;
    void make_bundles();
    void make_shards();
    std::span<const double> weights_of(Vertex chain) const;
    ChainWeights chain_weights(Vertex chain) const;
    // The trees, or chains, of a shard, by number.
    Shard trees_of(int shard) const;
    std::pair<std::size_t, std::size_t> slots_of(int shard) const;
    // body(shard) for every one, with a look before each.
    template <class Body>
    void for_each_shard(int n_threads, const Body& body) const;
    template <class Body>
    void for_each_chain_edge(Shard chains, const Body& body) const;
    void solve_chain(Vertex chain, std::span<const double> z, std::span<double> u,
                     ForestMemory* memory, WarmChainWorkspace& workspace) const;
    void solve_tree(Vertex t, std::span<const double> z, std::span<double> u,
                    ForestWorkspace::Worker& worker) const;

    // The loops of a sweep over one shard, for each kind of layout.
    template <class Visit>
    void visit_bundle(const Bundle& bundle, const Visit& visit) const;

    double delta_;
    std::variant<ChainForest, LatticeForest, RootedForest> layout_;
    std::vector<double> vertex_weights_;  // by position, or empty
    std::vector<double> largest_weight_;  // by chain
    std::vector<Bundle> bundles_;         // of a lattice
    std::vector<Shard> shards_;
    std::size_t n_slots_ = 0, largest_tree_ = 0, largest_bundle_ = 0;
};

// Vertex k of every chain of the bundle before vertex k + 1 of any: neighbours in memory.
// visit(place in the bundle's scratch, vertex).
template <class Visit>
void ForestBlock::visit_bundle(const Bundle& bundle, const Visit& visit) const {
    const auto& lattice = std::get<LatticeForest>(layout_);
    const auto& begin = lattice.chain_begin;
    const auto first = static_cast<std::size_t>(bundle.first);
    const auto length = static_cast<std::size_t>(begin[first + 1] - begin[first]);
    const auto width = static_cast<std::size_t>(bundle.last - bundle.first);
    const auto stride = static_cast<std::size_t>(lattice.stride);
    auto vertex = static_cast<std::size_t>(lattice.chain_start[first]);
    if (stride == 1) {  // a chain alone, contiguous
        for (std::size_t k = 0; k < length; ++k) visit(k, vertex + k);
        return;
    }
    for (std::size_t k = 0; k < length; ++k, vertex += stride)
        for (std::size_t c = 0; c < width; ++c)
            visit(c * (length + bundle_padding) + k, vertex + c);
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

    const auto sweep_bundle = [&](const Bundle& bundle, ForestWorkspace::Worker& worker,
                                  Partial& partial) {
        const auto length = at(begin[at(bundle.first) + 1] - begin[at(bundle.first)]);
        double *z = worker.z.data(), *u = worker.u.data();
        visit_bundle(bundle, [&](std::size_t i, std::size_t v) { z[i] = load(v, v); });
        for (Vertex t = bundle.first; t < bundle.last; ++t) {
            const auto i = at(t - bundle.first) * (length + bundle_padding);
            solve_chain(t, {z + i, length}, {u + i, length}, memory, worker.chain);
        }
        visit_bundle(bundle,
                     [&](std::size_t i, std::size_t v) { store(v, v, z[i], u[i], partial); });
    };
    const auto sweep_positions = [&](const Shard& shard, ForestWorkspace::Worker& worker,
                                     Partial& partial) {
        const auto from = at(begin[at(shard.first)]), to = at(begin[at(shard.last)]);
        double* z = is_linear() ? worker.z.data() : workspace.z_.data() + from;
        double* u = is_linear() ? worker.u.data() : workspace.u_.data() + from;
        for (auto i = from; i < to; ++i) z[i - from] = load(i, at(vertex[i]));
        for (Vertex t = shard.first; t < shard.last; ++t) {
            const auto i = at(begin[at(t)]) - from, length = at(begin[at(t) + 1]) - from - i;
            if (is_linear()) {
                solve_chain(t, {z + i, length}, {u + i, length}, memory, worker.chain);
            } else {
                solve_tree(t, {workspace.z_.data(), workspace.z_.size()},
                           {workspace.u_.data(), workspace.u_.size()}, worker);
            }
        }
        for (auto i = from; i < to; ++i) store(i, at(vertex[i]), z[i - from], u[i - from], partial);
    };
    const auto sweep_shard = [&](int task, int number) {
        if (stopped.load(std::memory_order_relaxed)) return;
        if (watch && number == 0 && watch->expired()) {
            stopped.store(true, std::memory_order_relaxed);
            return;
        }
        const Shard shard = shards_[at(task)];
        auto& worker = workspace.workers_[at(number)];
        Partial partial{};
        if (is_lattice()) {
            for (Vertex b = shard.first; b < shard.last; ++b)
                sweep_bundle(bundles_[at(b)], worker, partial);
        } else {
            sweep_positions(shard, worker, partial);
        }
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
                visit_bundle(bundles_[at(b)], [&](std::size_t, std::size_t v) { body(v, v); });
        } else {
            const auto begin = tree_begin(), vertex = vertices();
            for (auto i = at(begin[at(shard.first)]); i < at(begin[at(shard.last)]); ++i)
                body(i, at(vertex[i]));
        }
    };
    parallel_for(n_shards(), n_threads, std::cref(visit_shard));
}

}  // namespace graphtv

// One forest of a preconditioner: its layout in memory, and the proximal step
//
//     u = argmin ½ Σ c_i (u_i - z_i)² + Σ_e h(w_e (u_i - u_j))   over the edges e of the forest,
//
// with h = |·| or its Huber relaxation. The step is one pass, fused with the caller's computations
// on z and u. The layout is constant and shared. ForestMemory keeps the state that one signal
// passes to the next, and ForestWorkspace is scratch memory that all forests of a solver share.
//
// Forest variables such as q_l = K_lᵀp_l are stored in slots. A linear forest is stored as compact
// chains, any other forest as rooted trees. Slots are positions in these arrays, and vertices
// without an edge have no slot. Chains along an axis of a grid need no index: there the slots are
// the vertices. In scratch memory the vertices of several chains are interleaved, as the warm
// solver requires.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/chain_forest.hpp"
#include "graph/lattice_forest.hpp"
#include "graph/rooted_forest.hpp"
#include "parallel/watch.hpp"
#include "tv/edge_penalty.hpp"
#include "tv/huber.hpp"
#include "tv/lanes.hpp"
#include "tv/rounded.hpp"
#include "tv/tree.hpp"
#include "tv/warm_chains.hpp"

namespace graphtv {

class ForestBlock;

// A tag type for operations on n neighbouring vertices at once.
template <std::size_t n>
using Neighbours = std::integral_constant<std::size_t, n>;

// The jumps of the last solution of one signal. The next solve starts from them.
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
    // Vertex weights c are positive, or empty for ones. `vertex_numbers` are the caller's numbers
    // of the vertices (empty: 0, 1, …), by which all other arrays over vertices are indexed. Throws
    // std::invalid_argument on a cycle. With `looks_weights_up`, chains look up their weights
    // instead of copying them, which is slower but takes no memory. The edge weights must then
    // outlive the object, unless rename_edges replaces them.
    ForestBlock(const EdgeList& forest, std::span<const double> edge_weights,
                EdgePenalty penalty = {}, std::span<const double> vertex_weights = {},
                std::span<const Vertex> vertex_numbers = {}, bool looks_weights_up = false);

    // Sets the caller's numbers of the edges, if they are not 0, 1, …, and the weights by these
    // numbers. The weights must outlive the object.
    void rename_edges(std::span<const EdgeIndex> numbers, std::span<const double> weights);

    std::size_t n_slots() const { return n_slots_; }
    int n_shards() const { return static_cast<int>(shards_.size()); }
    bool is_linear() const { return !std::holds_alternative<RootedForest>(layout_); }
    // is_lattice: slots are vertices. covers: every vertex has an edge.
    bool is_lattice() const { return std::holds_alternative<LatticeForest>(layout_); }
    bool covers(std::size_t n_vertices) const {
        return static_cast<std::size_t>(tree_begin().back()) == n_vertices;
    }
    std::size_t n_bytes() const;

    // Changes the width of the Huber penalty. The forest must have been built with a Huber penalty.
    void set_penalty(EdgePenalty penalty) { penalty_ = penalty; }

    // The proximal step: z = load(slot, vertex) for every vertex that has an edge, then store(slot,
    // vertex, z, u, partial). partials[shard] collects the sums of one shard; shards do not depend
    // on the number of threads. Returns false if the watch expired; shards that were not reached
    // are unchanged. Without a memory the chains start cold. A load and a store that take
    // Neighbours<n> before the slot operate on Pack<n>, for n consecutive vertices. n > 1 occurs
    // only on lattices, where slots are vertices.
    template <class Partial, class Load, class Store>
    bool sweep(ForestMemory* memory, ForestWorkspace& workspace, int n_threads, Watch* watch,
               std::span<Partial> partials, const Load& load, const Store& store) const;

    // Calls body(slot, vertex) for every vertex that has an edge, on n_threads threads.
    template <class Body>
    void for_each_slot(int n_threads, const Body& body) const;

    // q = K_lᵀp_l by slot, p by the caller's edge numbers.
    void adjoint(std::span<const double> p, std::span<double> q, int n_threads) const;

    // The p in [-1, 1] with K_lᵀp_l = q, computed from leaves to root, by the caller's edge
    // numbers. Overwrites `q` unless recovery_keeps_q().
    bool recovery_keeps_q() const { return std::holds_alternative<ChainForest>(layout_); }
    void recover(std::span<double> q, std::span<double> p, int n_threads) const;
    void recover(std::span<double> q, std::span<Rounded> p, int n_threads) const;

    // Recomputes the value of every piece of u = prox(f), by vertex, without the rounding errors of
    // long message chains.
    void refine(std::span<const double> f, std::span<double> u) const;

    // p by the caller's edge numbers with K_lᵀp_l = f - u, where u = prox(f), both by vertex. p is
    // exactly ±1 wherever u jumps.
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
    // The vertices of a bundle: `width` chains from `start` on, `pitch` apart.
    struct Extent {
        std::size_t length, width, start, stride, pitch;
    };
    // A shard of chains laid out as one panel: the positions [begin[l], begin[l + 1]) are lane l.
    struct Strip {
        std::array<Vertex, chain_lanes + 1> begin;
        std::size_t length;  // of the longest lane
        std::size_t memory;
        std::size_t lanes;
    };
    // Trees or bundles of chains [first, last), by number.
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
    // The weight of the edge to the next position of a chain; 0 at its end.
    double weight_at(std::size_t position) const {
        return weight_.empty()
                   ? look_up(std::get<ChainForest>(layout_).edge[position], edge_weights_.data())
                   : weight_[position];
    }
    // Branch-free, since a branch would often be mispredicted.
    static double look_up(EdgeIndex e, const double* weights) {
        const auto bits = std::bit_cast<std::uint64_t>(weights[std::max(e, 0)]);
        const auto mask = static_cast<std::uint64_t>(-static_cast<std::int64_t>(e >= 0));
        return std::bit_cast<double>(bits & mask);
    }
    std::span<const double> lattice_weights(Vertex chain) const;
    // Copies the weights to the worker's memory unless they are contiguous.
    ChainWeights chain_weights(Vertex chain, ForestWorkspace::Worker& worker) const;
    // The trees or chains of a shard, by number.
    Shard trees_of(int shard) const;
    std::pair<std::size_t, std::size_t> slots_of(int shard) const;
    // Calls body(shard) for every shard and checks the watch before each.
    template <class Body>
    void for_each_shard(int n_threads, const Body& body) const;
    template <class Body>
    void for_each_chain_edge(Shard chains, const Body& body) const;
    // Calls put(edge, p) for every edge.
    template <class Put>
    void recover_each(std::span<double> q, int n_threads, const Put& put) const;
    void solve_bundle(const Bundle& bundle, std::int8_t* jumps, bool has_solution,
                      ForestWorkspace::Worker& worker) const;
    void solve_strip(const Strip& strip, std::int8_t* jumps, bool has_solution,
                     ForestWorkspace::Worker& worker) const;
    void solve_cold(Vertex first, Vertex last, ForestWorkspace::Worker& worker) const;
    void solve_tree(Vertex t, std::span<const double> z, std::span<double> u,
                    ForestWorkspace::Worker& worker) const;

    Extent extent_of(const Bundle& bundle) const;
    // Calls visit(position in scratch memory, vertex or position) for a sweep over one shard.
    template <class Visit>
    void visit_bundle(const Bundle& bundle, std::size_t lanes, const Visit& visit) const;
    template <class Visit>
    void visit_strip(const Strip& strip, std::size_t lanes, const Visit& visit) const;
    // The same for panels of all lanes. Calls row(place, vertex) for four neighbouring chains at
    // the same vertex, square(place, vertex, pitch) for four neighbours on each of four chains, and
    // visit for the rest.
    template <class Row, class Square, class Visit>
    void visit_panels(const Bundle& bundle, const Row& row, const Square& square,
                      const Visit& visit) const;

    EdgePenalty penalty_;
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

}  // namespace graphtv

// The proximal step of one forest, as a solver calls it again and again:
//
//     u = argmin ½‖u - f‖² + Σ_e h(w_e (u_i - u_j))   over the edges e of a forest,
//
// with h = |·| or its Huber relaxation. A linear forest is kept as compact chains, any other as
// rooted trees; trees are grouped into shards of fixed size, solved by as many threads as there
// are. All memory is taken on construction and on the first call.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "graph/chain_forest.hpp"
#include "graph/rooted_forest.hpp"
#include "tv/huber.hpp"
#include "tv/tree.hpp"
#include "tv/warm_chain.hpp"

namespace graphtv {

class ForestTV {
  public:
    // delta = 0: total variation; delta > 0: its Huber relaxation. Throws std::invalid_argument on
    // a cycle.
    ForestTV(const EdgeList& forest, std::span<const double> edge_weights, double delta = 0.0);

    ForestTV(const ForestTV&) = delete;
    ForestTV& operator=(const ForestTV&) = delete;

    // f and u are indexed by vertex; u_i = f_i where no edge is. `warm` starts the chains from the
    // pieces of the last call; trees always start cold.
    void solve(std::span<const double> f, std::span<double> u, bool warm, int n_threads);

    // Recomputes the value of every piece of u from f, free of the rounding of long message chains.
    void refine(std::span<const double> f, std::span<double> u);

    // p by edge of the forest, |p| ≤ 1 and Kᵀp = f - u to rounding.
    void dual(std::span<const double> f, std::span<const double> u, std::span<double> p);

    bool is_linear() const { return std::holds_alternative<ChainForest>(layout_); }
    std::size_t n_bytes() const;

  private:
    // Trees [first, last), by number.
    struct Shard {
        Vertex first, last;
    };
    std::span<const Vertex> tree_begin() const;
    std::span<const Vertex> vertices() const;
    void gather(std::span<const double> from, std::vector<double>& to) const;
    void scatter(const std::vector<double>& from, std::span<double> to) const;
    void solve_chain(Vertex chain, bool warm, int worker);

    double delta_;
    std::variant<ChainForest, RootedForest> layout_;
    std::vector<double> largest_weight_;  // by chain
    std::vector<Shard> shards_;
    std::size_t largest_tree_ = 0;
    std::vector<double> f_, u_;  // by position
    std::vector<std::int32_t> piece_ends_, piece_counts_;
    std::vector<WarmChainWorkspace> chain_workspaces_;  // by worker, as are the next two
    std::vector<TreeWorkspace> tree_workspaces_;
    std::vector<HuberWorkspace> huber_workspaces_;
};

}  // namespace graphtv

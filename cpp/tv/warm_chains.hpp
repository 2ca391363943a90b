// Exact total variation on chains, started from the pieces of an earlier solution.
//
// Between two iterations of a solver most pieces (maximal runs of equal u) do not change. A piece
// with known flow ±w at both ends has the value (Σ f + inflow - outflow) / length. It is still
// optimal if the flow inside it respects its bounds and its jumps keep their signs. Pieces are
// short and vary in length, so a loop over each piece would mispredict its end. Instead, vectors
// process four chains at once, one vertex of each at a time, and masks mark the ends of pieces:
//
// - propose, from the end: sums and lengths grow until a piece begins, where they give its value;
// - examine, from the beginning: the flows, their bounds, the signs of the jumps.
//
// Pieces that fail are recomputed together with the neighbours that they conflict with, and this
// set grows as needed. When the cost reaches that of a cold start, the chain is solved cold. The
// result is the same minimiser in both cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tv/chain.hpp"

namespace graphtv {

constexpr std::size_t chain_lanes = 4;

// Interleaved lanes: the value at vertex k of a lane is [k * lanes + lane]. A lane is one chain, or
// several consecutive chains with weight 0 between them.
struct ChainPanel {
    std::size_t length;
    const double* f;
    const double* weights;  // of the edges to the next vertex; read at k < length - 1
    bool has_one_weight;    // if so, *weights is the weight of all edges
    double* u;
    std::int8_t* jumps;  // the last solution's sign of u_k - u_{k+1}; never 0 between two chains
};

class WarmChainWorkspace {
  public:
    // Reserves memory for panels of this many lanes and this length.
    void reserve(std::size_t length, std::size_t lanes);
    std::size_t n_bytes() const;
    ChainWorkspace& cold() { return cold_; }

  private:
    template <std::size_t lanes>
    friend class WarmChains;
    ChainWorkspace cold_;
    Scratch<std::uint8_t> failures_;  // by vertex, a bit per lane
    Scratch<double> f_;               // of the recomputed vertices
    Scratch<double> u_, weights_;     // the same, where lanes lie side by side
};

// u = prox of TV at f for every chain. Reads and updates the jumps. Without an earlier solution,
// the jumps mark the ends of chains and are 0 elsewhere.
template <std::size_t lanes>
void tv_chains_warm(const ChainPanel& panel, bool has_solution, WarmChainWorkspace& workspace);

extern template void tv_chains_warm<1>(const ChainPanel&, bool, WarmChainWorkspace&);
extern template void tv_chains_warm<chain_lanes>(const ChainPanel&, bool, WarmChainWorkspace&);

}  // namespace graphtv

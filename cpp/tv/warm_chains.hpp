// Exact total variation on chains, started from the pieces of an earlier solution.
//
// Between two iterations of a solver most pieces (maximal runs of equal u) stay what they were. A
// piece with the flow ±w known at both ends has the value (Σ f + inflow - outflow) / length; it is
// still optimal if the flow inside it respects its bounds and its jumps keep their signs. Pieces are
// short and of all lengths: a loop for each would mispredict its end. Instead four chains go side by
// side in vectors, one vertex of each at a time, and the ends of pieces are masks:
//
// - propose, from the end: sums and lengths grow until a piece begins, where they give its value;
// - examine, from the beginning: the flows, their bounds, the signs of the jumps.
//
// Pieces that fail are solved anew together with the neighbours they disagree with, ever more of
// them; when that has cost as much as a cold start would, the chain is solved cold. The result is
// the same minimiser either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tv/chain.hpp"

namespace graphtv {

constexpr std::size_t chain_lanes = 4;

// As many lanes as the solver is told, vertex k of each side by side: the value at k of a lane is
// [k * lanes + lane]. A lane is a chain, or several one after another with weight 0 between them.
struct ChainPanel {
    std::size_t length;
    const double* f;
    const double* weights;  // of the edges to the next vertex; read at k < length - 1
    bool has_one_weight;    // then *weights is that of all edges
    double* u;
    std::int8_t* jumps;  // the last solution's sign of u_k - u_{k+1}; never 0 between two chains
};

class WarmChainWorkspace {
  public:
    // For panels of as many lanes and that length.
    void reserve(std::size_t length, std::size_t lanes);
    std::size_t n_bytes() const;
    ChainWorkspace& cold() { return cold_; }

  private:
    template <std::size_t lanes>
    friend class WarmChains;
    ChainWorkspace cold_;
    Scratch<std::uint8_t> failures_;  // by vertex, a bit per lane
    Scratch<double> f_;               // of what is solved anew
    Scratch<double> u_, weights_;     // the same, where lanes lie side by side
};

// u = prox of TV at f for every chain, reading and updating the jumps. Without an earlier solution
// these say where chains end and are 0 elsewhere.
template <std::size_t lanes>
void tv_chains_warm(const ChainPanel& panel, bool has_solution, WarmChainWorkspace& workspace);

extern template void tv_chains_warm<1>(const ChainPanel&, bool, WarmChainWorkspace&);
extern template void tv_chains_warm<chain_lanes>(const ChainPanel&, bool, WarmChainWorkspace&);

}  // namespace graphtv

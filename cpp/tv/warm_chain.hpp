// Exact total variation on a chain, started from the pieces of an earlier solution.
//
// Between two iterations of a solver most pieces (maximal runs of equal u) stay what they were. A
// piece with the flow ±w known at both ends has the value (Σ f + inflow - outflow) / length; it is
// still optimal if the flow inside it respects its bounds and its jumps keep their signs. Pieces
// that fail are solved anew together with the neighbours they disagree with; when that has cost as
// much as a cold start would, the chain is solved cold. The result is the same minimiser either
// way.
#pragma once

#include <cstdint>
#include <span>

#include "tv/chain.hpp"

namespace graphtv {

// The pieces of the last solution of one chain. `ends` has room for one entry per vertex.
struct ChainPieces {
    std::span<std::int32_t> ends;  // first vertex after each piece, negated where u jumps up there
    std::int32_t& count;           // 0: no earlier solution
};

class WarmChainWorkspace {
  public:
    explicit WarmChainWorkspace(std::size_t longest = 0) : cold_(longest) { reserve(longest); }
    void reserve(std::size_t longest);
    std::size_t n_bytes() const;
    ChainWorkspace& cold() { return cold_; }

  private:
    friend class WarmChain;
    ChainWorkspace cold_;
    Scratch<std::int32_t> old_ends_;
    Scratch<double> window_;
};

// As tv_chain, reading and updating the pieces.
void tv_chain_warm(std::span<const double> f, ChainWeights weights, std::span<double> u,
                   ChainPieces pieces, WarmChainWorkspace& workspace);

}  // namespace graphtv

// The linear system of a Newton step for isotropic and coupled total variation:
//
//     H = C + KᵀBK,    B_g = a_g (I - ½ (l_g r_gᵀ + r_g l_gᵀ)),   ‖l_g‖ ≤ 1, ‖r_g‖ ≤ 1
//
// with one block per group of the penalty. H is positive definite if C is. It is solved by conjugate
// gradients. The preconditioner is multigrid (multigrid.hpp) for the same matrix with B replaced by
// its diagonal, averaged over the channels. Both need 6 numbers per entry of u, 4 per entry of p and 12 per edge.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "graph/types.hpp"
#include "solver/newton/multigrid.hpp"
#include "terms/group_norms.hpp"

namespace graphtv {

class GroupSystem {
  public:
    // Everything is borrowed. The groups are those in the channels [channel, channel + n_channels).
    GroupSystem(const EdgeList& graph, std::span<const double> weights, const GroupNorms& penalty);

    // The blocks: a by group; l and r by edge, one channel after another. Filled by the caller.
    std::vector<double> a, l, r;
    std::vector<double> c;  // C by entry of u

    // Sizes the blocks for groups that contain this many channels.
    void resize(std::size_t n_channels);
    // Sets up the preconditioner. Under `Watched`, as is `solve`.
    void precondition();

    // x ≈ H⁻¹b until the residual, in the norm of the preconditioner, is `accuracy` times that of
    // x = 0, or for `most` iterations. Returns their number.
    int solve(std::span<const double> b, std::span<double> x, double accuracy, int most);

    std::size_t n_channels() const { return n_channels_; }

  private:
    void apply(std::span<const double> x, std::span<double> out) const;
    void cycle();

    EdgeList graph_;
    std::span<const double> weights_;
    const GroupNorms& penalty_;
    std::size_t n_channels_ = 0;
    Multigrid multigrid_;
    std::vector<double> residual_, z_, direction_, image_;
};

}  // namespace graphtv

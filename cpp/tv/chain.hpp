// Exact total variation on a chain:
//
//     u = argmin ½ Σ (u_k - f_k)² + Σ w_k |u_k - u_{k+1}|,      w ≥ 0.
//
// The dual flow x_k = Σ_{i≤k} (f_i - u_i) satisfies |x_k| ≤ w_k: the string Σ u runs through the
// tube Σ f ± w and is taut (Davies & Kovac 2001; Barbero & Sra 2014 with weights). From an anchor,
// the string cannot bend before the steepest line to the lower tube exceeds the flattest line to
// the upper one. Two algorithms search for that bend:
//
// - scan: keep only these two slopes, as Condat (2013) does, and restart after each bend. The two
//   slopes are mirror images of each other in one vector of two lanes, and their updates have no
//   branches. Fastest on noisy signals, quadratic on smooth ones.
// - hull: keep the convex minorant of the upper tube and the concave majorant of the lower tube, as
//   pooled blocks (isotonic regression). Linear time on every signal.
//
// The ratio of scanned to finished vertices decides which one continues, so the time is linear on
// every input. Since |u_k - f_k| ≤ w_{k-1} + w_k, some edges are certain to jump. They are finished
// without either algorithm.
#pragma once

#include <cstddef>
#include <span>

#include "graph/scratch.hpp"

namespace graphtv {

// Memory of the chain solver. It grows on demand, but never for chains up to the reserved length.
class ChainWorkspace {
  public:
    explicit ChainWorkspace(std::size_t longest = 0) { reserve(longest); }
    void reserve(std::size_t longest);
    std::size_t n_bytes() const;

  private:
    friend class ChainScan;
    static constexpr std::size_t least_blocks = 512;
    struct Block {
        double sum;    // of f over the block, and the tube's width gained
        double start;  // first vertex; a double, since it only meets doubles
    };
    Scratch<Block> upper_, lower_;
    Scratch<double> capped_;
};

// One weight per edge (n - 1 of them), or a single one for all edges.
struct ChainWeights {
    std::span<const double> values;
    double largest;  // computed once by the caller

    static ChainWeights of(std::span<const double> values);
    double operator[](std::size_t edge) const { return values[values.size() == 1 ? 0 : edge]; }
};

// u = prox of TV at f, which must not overlap.
void tv_chain(std::span<const double> f, ChainWeights weights, std::span<double> u,
              ChainWorkspace& workspace);

// p_k = x_k / w_k in [-1, 1] with w_k p_k - w_{k-1} p_{k-1} = f_k - u_k to rounding. The flow is
// reset to ±w_k wherever u jumps, so that errors do not accumulate along the chain.
void tv_chain_dual(std::span<const double> f, ChainWeights weights, std::span<const double> u,
                   std::span<double> p);

}  // namespace graphtv

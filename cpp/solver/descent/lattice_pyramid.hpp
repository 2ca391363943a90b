// A start for descent over the edges of a grid, from coarse to fine.
//
// Restricted to functions that are constant on blocks of 2 × 2 (× 2 …) vertices, the problem is
// that of a grid of half the size. The weight of a block is the total weight of its vertices, and
// its value is their mean. The capacity of an edge between two blocks is the total capacity of the
// edges that join them. The coarse flow is distributed over these edges in proportion to their
// capacities, which gives a feasible flow between blocks. The first iterations on the fine grid
// find the flow within blocks. On a grid that is 2^k times smaller, one iteration carries
// information as far as 2^k iterations on the fine grid, at a fraction of their cost.
#pragma once

#include "parallel/watch.hpp"
#include "solver/descent/lattice.hpp"

namespace graphtv {

// The problem on blocks, at x = 0.
Lattice coarsened(const Lattice& fine);

// Distributes the flow between blocks over the edges that join them. Edges within a block get none.
void prolong(const Lattice& coarse, Lattice& fine);

// Starts from a solution on coarser grids. False if the watch expired: the start is then x = 0.
bool start_from_coarse(Lattice& fine, Watch& watch, int n_threads);

}  // namespace graphtv

// A start for descent over the edges of a grid, from coarse to fine.
//
// On the functions that are constant on blocks of two by two (by two …) vertices, the problem is that of
// a grid half as large: a block weighs as much as its vertices together, has their mean, and an edge
// between two blocks has the capacity of all edges across. Its flow, shared among those in proportion to
// their capacities, is a feasible flow between the blocks; within them the first iterations on the fine
// grid find one. Information travels as far in one iteration on a grid 2^k times smaller as in 2^k
// iterations, at a fraction of their cost.
#pragma once

#include "parallel/watch.hpp"
#include "solver/descent/lattice.hpp"

namespace graphtv {

// The problem on blocks, at x = 0.
Lattice coarsened(const Lattice& fine);

// Puts the flow between blocks on the edges across, and none within.
void prolong(const Lattice& coarse, Lattice& fine);

// Starts from a solution on coarser grids. False if the watch expired: the start is then x = 0.
bool start_from_coarse(Lattice& fine, Watch& watch, int n_threads);

}  // namespace graphtv

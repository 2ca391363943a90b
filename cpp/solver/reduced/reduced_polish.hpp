// A better primal point from reduced problems.
//
// The primal point u = f - C⁻¹Kᵀp of a descent is late: it is not yet constant on pieces, and the gap
// waits for it. But u is close to constant there. So the vertices are joined along the edges across
// which u jumps least, and the problem is solved on the parts (reduced_problem.hpp), from the flow
// between them. That problem is smaller by a factor of about ten. It is solved in the same way: a
// few iterations of descent, then the next reduction. Every level gives a primal point of the
// original problem; the best one is the result.
#pragma once

#include <span>

#include "graph/types.hpp"
#include "parallel/watch.hpp"
#include "solver/reduced/reduced_problem.hpp"

namespace graphtv {

class ReducedPolish {
  public:
    // Everything is borrowed.
    explicit ReducedPolish(const SquaredProblem& problem) : problem_(problem) {}

    // Computes u from the dual point. Throws Expired if the watch expires; u is then undefined.
    void run(std::span<double> u, Watch& watch) const;

  private:
    SquaredProblem problem_;
};

}  // namespace graphtv

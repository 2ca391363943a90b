// Algebraic multigrid by aggregation, a preconditioner for A = C + ∇ᵀB∇ with diagonal C ≥ 0, B > 0.
//
// The matrix of every level is that of a graph. Aggregates of about four vertices, joined along their
// heaviest edges, are the vertices of the next level; functions there are constant on aggregates. So
// edges of very large weight, along which u is nearly constant, disappear first. A cycle smooths by one
// forward sweep of Gauss-Seidel before and one backward sweep after the correction by the next level,
// so it is symmetric. Corrections are prolonged as in D. Braess, "Towards algebraic multigrid for
// elliptic problems of second order" (1995).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

class Multigrid {
  public:
    explicit Multigrid(const EdgeList& graph);

    // Sets C and B, and finds the aggregates. Under `Watched`.
    void set(std::span<const double> diagonal, std::span<const double> weights);

    // One cycle from 0: x ≈ A⁻¹b.
    void apply(std::span<const double> b, std::span<double> x);

    std::size_t n_levels() const { return levels_.size(); }

  private:
    // Rounding B changes the preconditioner by a relative 1e-7 only, as the diagonal of A is computed
    // from the rounded weights.
    struct Half {
        Vertex to;
        float weight;
    };

    // The half-edges of vertex i are at start[i] … start[i + 1], those to smaller vertices before
    // split[i].
    struct Level {
        std::vector<std::int64_t> start, split;
        std::vector<Half> halves;
        std::vector<double> c, inverse;  // C, and the inverse of the diagonal of A
        std::vector<Vertex> parent;      // the aggregate, or none
        std::vector<double> b, x;        // of a cycle; not on the finest level

        std::size_t size() const { return c.size(); }
        void invert();
        Vertex aggregate();
    };

    static void coarsen(const Level& fine, Vertex n_aggregates, Level& coarse);
    void cycle(std::size_t level, std::span<const double> b, std::span<double> x);

    std::vector<Level> levels_;
    std::vector<EdgeIndex> edge_;  // by half-edge of the finest level
};

}  // namespace graphtv

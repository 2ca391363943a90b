// The problem restricted to functions that are constant on parts of the graph:
//
//     min  ½ Σ_k c_k (u_k - f_k)² + Σ_{kl} ω_kl |u_k - u_l| + constant,
//
// where c_k is the total weight of part k and f_k is its mean. ω_kl is the total weight of the edges
// between parts k and l. Every u of this problem has the same objective in the original problem. The
// flow over the edges between parts is a dual point of it.
#pragma once

#include <span>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

// A problem with squared loss and a dual point. All values are borrowed.
struct SquaredProblem {
    EdgeList graph;
    std::span<const double> weights;         // ω, by edge
    std::span<const double> signal;          // f, by vertex
    std::span<const double> vertex_weights;  // c, positive, or empty for ones
    std::span<const double> p;               // by edge, |p| ≤ 1

    double weight(std::size_t v) const { return vertex_weights.empty() ? 1.0 : vertex_weights[v]; }
};

class ReducedProblem {
  public:
    // Contracts edges across which u jumps least, until there are at most `most_parts` parts or no
    // edges are left. Throws Expired under a watch that expires.
    ReducedProblem(const SquaredProblem& fine, std::span<const double> u, Vertex most_parts);

    SquaredProblem problem() const { return {{n_parts_, edges_}, weights_, signal_, c_, p_}; }
    double constant() const { return constant_; }

    // Replaces values by part with values by vertex, in `out`.
    void expand(std::span<const double> values, std::span<double> out) const;

  private:
    void find_parts(const SquaredProblem& fine, std::span<const double> u, Vertex most_parts);
    void gather_vertices(const SquaredProblem& fine);
    void gather_edges(const SquaredProblem& fine);

    Vertex n_parts_ = 0;
    std::vector<Vertex> part_;  // of each vertex
    std::vector<Edge> edges_;
    std::vector<double> weights_, signal_, c_, p_;
    double constant_ = 0.0;
};

}  // namespace graphtv

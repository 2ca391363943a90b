// Exact Huber total variation on the trees of a rooted forest:
//
//     u = argmin ½ Σ c_i (u_i - f_i)² + Σ_e h(w_e (u_i - u_j)),
//     h(x) = x² / 2δ where |x| ≤ δ, |x| - δ/2 elsewhere   (F*(p) = δ/2 p² + indicator of |p| ≤ 1).
//
// The paper considers efficient solvers for this penalty conceivable; this is one. The objective is
// strictly convex, once differentiable and piecewise quadratic. Newton's method with a line search
// finds its minimiser in finitely many steps (Madsen & Nielsen 1990). An edge is quadratic (|w Δu|
// < δ) or linear. The Newton step solves a linear system on the forest of quadratic edges, by
// elimination from leaves to root in O(n) without fill. The iteration starts from the exact total
// variation solution, whose jumps are nearly always the linear edges, and usually needs a few
// steps. If it does not converge, an interior-point method first computes a closer start.
#pragma once

#include <span>

#include "graph/rooted_forest.hpp"
#include "tv/huber_interior.hpp"
#include "tv/tree.hpp"

namespace graphtv {

class HuberWorkspace {
  public:
    explicit HuberWorkspace(std::size_t largest_tree = 0) : tree_(largest_tree) {
        reserve(largest_tree);
    }
    void reserve(std::size_t largest_tree);
    std::size_t n_bytes() const;

  private:
    friend class HuberNewton;
    friend void huber_tree(const RootedForest&, Vertex, std::span<const double>,
                           std::span<const double>, double, std::span<double>, HuberWorkspace&);
    TreeWorkspace tree_;
    HuberInterior interior_;
    Scratch<double> step_, pivot_;
    Scratch<signed char> zone_;
};

// Solves tree t; f, u and the vertex weights c > 0 (empty: ones) are indexed by position in the
// forest. δ > 0.
void huber_tree(const RootedForest& forest, Vertex t, std::span<const double> f,
                std::span<const double> vertex_weights, double delta, std::span<double> u,
                HuberWorkspace& workspace);

}  // namespace graphtv

// One tree with Huber's penalty, in the form that both solvers use: positions count from the first
// vertex of the tree, the root is last, and edge i leads from vertex i to its parent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "graph/rooted_forest.hpp"

namespace graphtv {

class HuberProblem {
  public:
    HuberProblem(const RootedForest& forest, Vertex t, std::span<const double> f,
                 std::span<const double> vertex_weights, double huber_delta)
        : begin_(static_cast<std::size_t>(forest.tree_begin[static_cast<std::size_t>(t)])),
          size(static_cast<std::size_t>(forest.tree_begin[static_cast<std::size_t>(t) + 1]) -
               begin_),
          delta(huber_delta),
          forest_(forest),
          f_(f.subspan(begin_, size)),
          c_(vertex_weights.empty() ? vertex_weights : vertex_weights.subspan(begin_, size)) {
        const auto [low, high] = std::minmax_element(f_.begin(), f_.end());
        centre = *low + 0.5 * (*high - *low);
        range = *high - *low;
    }

  private:
    const std::size_t begin_;

  public:
    const std::size_t size;
    const double delta;
    double centre, range;  // of f

    double signal(std::size_t i) const { return f_[i] - centre; }
    double mass(std::size_t i) const { return c_.empty() ? 1.0 : c_[i]; }
    double weight(std::size_t i) const { return forest_.weight[begin_ + i]; }
    std::size_t parent(std::size_t i) const {
        return static_cast<std::size_t>(forest_.parent[begin_ + i]) - begin_;
    }
    bool is_root(std::size_t i) const { return i + 1 == size; }
    template <class T>
    std::span<T> part_of(std::span<T> u) const {
        return u.subspan(begin_, size);
    }

    // x_i - x_parent
    double drop(std::span<const double> x, std::size_t i) const { return x[i] - x[parent(i)]; }

    // Solves (C + Kᵀ diag(1/E) K) x = b in place, from the leaves to the root and back.
    // `softness(i)` is E_i, 0 < E ≤ ∞. In mechanical terms, a spring of stiffness w²/E connects a
    // vertex to its parent, in series with the subtree of the vertex. `pivot` is scratch memory.
    template <class Softness>
    void solve_springs(const Softness& softness, std::span<double> x,
                       std::span<double> pivot) const {
        // The fraction of its parent's movement that a vertex follows, computed without overflow of
        // w².
        const auto share = [&](std::size_t i) {
            return 1.0 / (1.0 + pivot[i] / weight(i) * (softness(i) / weight(i)));
        };
        for (std::size_t i = 0; i < size; ++i) pivot[i] = mass(i);
        for (std::size_t i = 0; !is_root(i); ++i) {
            const double s = share(i);
            pivot[parent(i)] += s * pivot[i];
            x[parent(i)] += s * x[i];
        }
        for (std::size_t i = size; i-- > 0;) {
            x[i] /= pivot[i];
            if (is_root(i)) continue;
            const double s = share(i);
            x[i] = (1.0 - s) * x[i] + s * x[parent(i)];
        }
    }

  private:
    const RootedForest& forest_;
    const std::span<const double> f_, c_;
};

}  // namespace graphtv

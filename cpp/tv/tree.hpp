// Exact total variation on the trees of a rooted forest (paper, Algorithm 1; Kolmogorov, Pock &
// Rolinek 2016, Algorithm 2):
//
//     u = argmin ½ Σ c_i (u_i - f_i)² + Σ_e w_e |u_i - u_j|.
//
// Messages are derivatives of convex functions: nondecreasing and piecewise linear. They are stored
// as knots (place, change of slope) sorted by place. A vertex adds the messages of its children and
// its own linear function. It clips the sum to ±w, which removes knots at both ends and adds one at
// each, and records where it clipped: [low, high]. On the way back from the root, u_i is u_parent
// clipped to [low, high].
//
// Departures from the paper's source:
// - A message is a few sorted runs instead of a heap. Adding a child appends its runs; two
//   neighbouring runs are merged once the first is not much longer than the second. A knot then
//   moves O(log n) times, which gives O(n log n) on every tree. In practice nearly every message is
//   a single run.
// - Memory is one array of 2n knots. The knots of a subtree lie inside the interval of the Euler
//   tour between entry and exit of its root, so that the two slots for the knots of a vertex are
//   always free next to the runs of its children.
// - An edge that is heavier than any possible flow is not clipped at all, since clipping would only
//   add rounding errors. Every tree is centred first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/rooted_forest.hpp"
#include "graph/scratch.hpp"
#include "tv/edge_penalty.hpp"

namespace graphtv {

class TreeWorkspace {
  public:
    explicit TreeWorkspace(std::size_t largest_tree = 0) { reserve(largest_tree); }
    void reserve(std::size_t largest_tree);
    std::size_t n_bytes() const;

  private:
    friend class TreeMessages;
    struct Knot {
        double place;
        double slope;  // change of slope from left to right
    };
    // Knots [begin, end) of the arena, sorted by place.
    struct Run {
        std::uint32_t begin, end;
    };
    struct Line {
        double slope, intercept;
    };
    // A message for the parent: runs from `first_run` up to the first run of the next message.
    struct Message {
        Line left, right;  // beyond the outermost knots
        std::uint32_t first_run;
    };
    struct Cut {
        double low, high;
    };
    Scratch<Knot> knots_, waiting_;
    Scratch<Run> runs_;
    Scratch<Message> messages_;
    Scratch<Cut> cuts_;
};

// Solves tree t of the forest; f and u are indexed by position in the forest. Vertex weights c are
// nonnegative, or empty for ones.
void tv_tree(const RootedForest& forest, Vertex t, std::span<const double> f,
             std::span<const double> vertex_weights, std::span<double> u, TreeWorkspace& workspace);

// Recomputes the value of every piece (connected vertices with equal u) of a solution from f, the
// weights around it and its vertex weights, as for tv_tree. The result is the same minimiser without the rounding errors of the
// messages.
class TreeRefinement {
  public:
    explicit TreeRefinement(std::size_t largest_tree) : sum_(largest_tree), size_(largest_tree) {}
    void operator()(const RootedForest& forest, Vertex t, std::span<const double> f,
                    std::span<const double> vertex_weights, std::span<double> u);

  private:
    std::vector<double> sum_, size_;
};

// Flow from each position to its parent divided by the edge weight, in [-1, 1]. This is the dual
// variable p for an edge directed towards the root, with Kᵀp = c (f - u) to rounding. Roots get 0.
void tv_tree_dual(const RootedForest& forest, Vertex t, std::span<const double> f,
                  std::span<const double> vertex_weights, EdgePenalty penalty,
                  std::span<const double> u, std::span<double> p);

}  // namespace graphtv

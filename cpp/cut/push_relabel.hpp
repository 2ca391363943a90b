// Maximum flow by push and relabel, highest label first:
// A. V. Goldberg, R. E. Tarjan, A new approach to the maximum-flow problem, J. ACM 35, 1988;
// B. V. Cherkassky, A. V. Goldberg, On implementing the push-relabel method for the maximum flow
// problem, Algorithmica 19, 1997.
//
// The label of a vertex is a lower bound on its distance to a deficit. A vertex with excess sends it
// to neighbours one label below. If it has none, its label rises. Paths are never searched, so the
// method is fast where augmenting paths are long. Labels are recomputed by breadth-first search from
// time to time. If a label is not used by any vertex, the vertices above it reach no deficit.
//
// Departures: there are no terminals. Vertices with a deficit have label 1. The search can therefore
// start from any flow. Excess that reaches no deficit stays where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cut/residual_network.hpp"

namespace graphtv {

template <class Network>
class PushRelabel {
  public:
    using Capacity = typename Network::Amount;

    PushRelabel(Network& network, std::span<Capacity> excess);

    // Moves as much excess as possible to deficits. Throws Expired when the watch of the thread
    // expires; the flow is then still feasible.
    void run();

    // Whether a vertex is on the source side of a minimum cut, after run.
    bool is_source_side(std::size_t v) const { return nodes_[v].label == lost_; }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct Node {
        std::uint32_t label;
        std::uint32_t arc;  // arcs before it lead to no neighbour one label below
        std::uint32_t next,
            previous;  // vertices with the same label, and both with or without excess
    };
    // The vertices of a label, as linked lists.
    struct Layer {
        std::uint32_t active = none;  // with excess
        std::uint32_t idle = none;
    };

    void relabel_all();
    void discharge(std::size_t v);
    std::uint32_t lowest_neighbour(std::size_t v);
    void lose_above(std::uint32_t label);
    void enter_active(std::size_t v);
    void enter_idle(std::size_t v);
    void leave_idle(std::size_t v);

    Network& network_;
    std::span<Capacity> excess_;
    const std::uint32_t lost_;  // the label of vertices that reach no deficit
    std::vector<Node> nodes_;
    std::vector<Layer> layers_;
    std::vector<std::uint32_t> queue_;
    std::uint32_t highest_active_ = 0, highest_ = 0;
    std::uint64_t work_ = 0;
};

}  // namespace graphtv

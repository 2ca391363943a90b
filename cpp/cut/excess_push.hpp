// Moves excess towards deficits level by level, for the whole network at once.
//
// A breadth-first search labels the vertices with their distance to the nearest deficit. Then, from
// the farthest level to the nearest, each vertex passes its excess down. Excess that gets stuck
// stays where it is. The mirror image starts at the excess and pulls the deficits. A pass scans all
// arcs, whereas a path of the search costs its length. So passes are faster if the sum of the
// distances over all excess exceeds the number of vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cut/residual_network.hpp"

namespace graphtv {

template <class Network>
class ExcessPush {
  public:
    using Capacity = typename Network::Amount;

    ExcessPush(Network& network, std::span<Capacity> excess);

    // Repeats passes while the distances exceed `threshold` times the number of vertices. Throws
    // Expired when the watch of the thread expires; the flow is then still feasible.
    void run(double threshold);

  private:
    static constexpr std::uint32_t unreached = ~std::uint32_t{0};

    // sign = 1: excess moves towards deficits. -1: deficits move towards excess, against the arcs.
    template <int sign>
    bool pass(double threshold);
    // The amount in transit at a vertex.
    template <int sign>
    Capacity burden(std::size_t v) const {
        return sign > 0 ? excess_[v] : -excess_[v];
    }

    Network& network_;
    std::span<Capacity> excess_;
    std::vector<std::uint32_t> level_, queue_;
};

}  // namespace graphtv

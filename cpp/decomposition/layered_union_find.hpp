// The components of all forests of a growing nested partition: one union-find of 2m entries.
//
// In a nested partition, vertices that forest l connects are connected in every earlier forest. The
// forests that connect u and v therefore form a prefix, and a binary search finds its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "decomposition/vertex_layers.hpp"
#include "graph/types.hpp"

namespace graphtv {

class LayeredUnionFind {
  public:
    explicit LayeredUnionFind(const EdgeList& graph)
        : layers_(graph),
          parent_(layers_.size()),
          depth_(static_cast<std::size_t>(graph.n_vertices)) {
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
    }

    // Adds the edge (u, v) to the first forest that does not connect its ends. Returns that forest.
    Forest insert(Vertex u, Vertex v) {
        auto& depth_u = depth_[static_cast<std::size_t>(u)];
        auto& depth_v = depth_[static_cast<std::size_t>(v)];
        Forest low = 0;
        for (Forest high = std::min(depth_u, depth_v); low < high;) {
            const Forest middle = low + (high - low) / 2;
            if (find(layers_(u, middle)) == find(layers_(v, middle))) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        unite(layers_(u, low), layers_(v, low));
        depth_u = std::max(depth_u, low + 1);
        depth_v = std::max(depth_v, low + 1);
        return low;
    }

  private:
    // Path halving with union by index: O(log n) amortised, without an array of sizes.
    std::uint32_t find(std::uint32_t place) {
        while (parent_[place] != place) {
            parent_[place] = parent_[parent_[place]];
            place = parent_[place];
        }
        return place;
    }
    void unite(std::uint32_t a, std::uint32_t b) {
        const auto [first, second] = std::minmax({find(a), find(b)});
        parent_[second] = first;
    }

    VertexLayers layers_;
    std::vector<std::uint32_t> parent_;
    // depth_[v]: the number of forests, counted from the first, that have an edge at v.
    std::vector<Forest> depth_;
};

}  // namespace graphtv

// Disjoint sets with path halving and union by size: the components of a growing forest.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "graph/types.hpp"

namespace graphtv {

class UnionFind {
  public:
    explicit UnionFind(Vertex n) : parent_(static_cast<std::size_t>(n)), size_(parent_.size(), 1) {
        std::iota(parent_.begin(), parent_.end(), Vertex{0});
    }

    Vertex find(Vertex v) {
        while (at(v) != v) {
            at(v) = at(at(v));
            v = at(v);
        }
        return v;
    }

    // Joins the sets of a and b. Returns false if they are already one set.
    bool unite(Vertex a, Vertex b) {
        a = find(a);
        b = find(b);
        if (a == b) return false;
        auto& size_a = size_[static_cast<std::size_t>(a)];
        auto& size_b = size_[static_cast<std::size_t>(b)];
        if (size_a < size_b) {
            at(a) = b;
            size_b += size_a;
        } else {
            at(b) = a;
            size_a += size_b;
        }
        return true;
    }

    Vertex size(Vertex v) { return size_[static_cast<std::size_t>(find(v))]; }

  private:
    Vertex& at(Vertex v) { return parent_[static_cast<std::size_t>(v)]; }

    std::vector<Vertex> parent_;
    std::vector<Vertex> size_;
};

}  // namespace graphtv

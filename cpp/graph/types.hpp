// Types that all folders of the core share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace graphtv {

// Indices are 32-bit: the Python class Graph rejects graphs with 2^31 or more vertices or edges.
// Counts that may exceed 32 bits, such as the 2m half-edges of an adjacency, are std::int64_t.
using Vertex = std::int32_t;
using EdgeIndex = std::int32_t;

// Converts an index to the index type of the standard containers.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// An undirected edge with an arbitrarily fixed orientation: (∇u)_e = u[tail] - u[head].
struct Edge {
    Vertex tail;
    Vertex head;
};

// A non-owning view of a simple graph 𝒢 = (𝒱, ℰ): no loops, no parallel edges, ends in [0,
// n_vertices).
struct EdgeList {
    Vertex n_vertices;
    std::span<const Edge> edges;

    EdgeIndex size() const { return static_cast<EdgeIndex>(edges.size()); }
};

}  // namespace graphtv

#include "graph/lattice_shape.hpp"

#include <algorithm>
#include <cstdlib>

#include "graph/edge_run.hpp"

namespace graphtv {

namespace {

constexpr std::size_t most_axes = 8;

// The distinct differences between the vertex numbers of an edge's ends, ascending. Empty if there
// are too many.
std::vector<Vertex> strides_of(const EdgeList& graph) {
    std::vector<Vertex> strides;
    std::size_t length = 0;
    for (std::size_t e = 0; e < graph.edges.size() && strides.size() <= most_axes; e += length) {
        length = length_of_run(graph.edges.subspan(e));
        const Vertex stride = std::abs(graph.edges[e].tail - graph.edges[e].head);
        if (std::ranges::find(strides, stride) == strides.end()) strides.push_back(stride);
    }
    if (strides.size() > most_axes) strides.clear();
    std::ranges::sort(strides);
    return strides;
}

// Whether the edges of this stride that start at `length` consecutive vertices stay within blocks.
bool stays(Vertex lower, std::size_t length, Vertex stride, Vertex block) {
    return static_cast<std::size_t>(lower % block) + length <=
           static_cast<std::size_t>(block - stride);
}

}  // namespace

std::vector<Vertex> lattice_shape(const EdgeList& graph) {
    auto strides = strides_of(graph);
    const std::size_t n_axes = strides.size();
    const auto n = static_cast<std::size_t>(graph.n_vertices);
    if (n_axes < 2 || strides[0] != 1 || 2 * graph.edges.size() < n_axes * n) return {};
    strides.push_back(graph.n_vertices);
    std::vector<Vertex> shape(n_axes);
    for (std::size_t axis = 0; axis < n_axes; ++axis) {
        if (strides[axis + 1] % strides[axis] != 0) return {};
        shape[n_axes - 1 - axis] = strides[axis + 1] / strides[axis];
    }
    bool is_lattice = true;
    std::size_t length = 0, axis = 0;
    for (std::size_t e = 0; e < graph.edges.size() && is_lattice; e += length) {
        length = length_of_run(graph.edges.subspan(e));
        const auto [tail, head] = graph.edges[e];
        const Vertex stride = std::abs(tail - head);
        while (strides[axis] != stride) axis = (axis + 1) % n_axes;
        is_lattice = stays(std::min(tail, head), length, stride, strides[axis + 1]);
    }
    if (!is_lattice) shape.clear();
    return shape;
}

}  // namespace graphtv

#include "decomposition/grid_recognition.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "graph/adjacency.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

namespace {

class Coordinates {
  public:
    Coordinates(Vertex n, std::size_t d) : d_(d), values_(static_cast<std::size_t>(n) * d) {}

    std::span<Vertex> operator[](Vertex v) {
        return {values_.data() + static_cast<std::size_t>(v) * d_, d_};
    }
    std::vector<Vertex> release() { return std::move(values_); }

  private:
    std::size_t d_;
    std::vector<Vertex> values_;
};

std::vector<EdgeIndex> degrees_of(const EdgeList& graph) {
    std::vector<EdgeIndex> degrees(static_cast<std::size_t>(graph.n_vertices));
    for_watched(graph.edges.size(), [&](std::size_t e) {
        ++degrees[static_cast<std::size_t>(graph.edges[e].tail)];
        ++degrees[static_cast<std::size_t>(graph.edges[e].head)];
    });
    return degrees;
}

// Computes coordinates by breadth-first search from `corner`. They are correct if the graph is a
// grid with that corner. Returns false if some vertex cannot have coordinates in a grid. In a grid
// the level of x is Σ xᵢ, and the neighbours one level down are x - eᵢ for every xᵢ > 0. Hence:
// - level 1 holds the unit vectors;
// - with two neighbours below, x is their componentwise maximum;
// - with only one below, x lies on an axis, one step beyond it.
bool guess(const Adjacency& adjacency, Vertex corner, Coordinates& coordinates) {
    const auto n = static_cast<std::size_t>(adjacency.n_vertices());
    std::vector<Vertex> level(n, -1);
    const auto level_of = [&](Vertex v) -> Vertex& { return level[static_cast<std::size_t>(v)]; };
    std::vector<Vertex> queue;
    queue.reserve(n);

    level_of(corner) = 0;
    for (const auto half_edge : adjacency[corner]) queue.push_back(half_edge.to);
    std::ranges::sort(queue, std::greater{});
    for (std::size_t axis = 0; axis < queue.size(); ++axis) {
        level_of(queue[axis]) = 1;
        coordinates[queue[axis]][axis] = 1;
    }

    for (std::size_t next = 0; next < queue.size(); ++next) {
        if (next % between_looks == 0) Watched::look();
        const auto v = queue[next];
        std::array<Vertex, 2> below{-1, -1};
        for (const auto [to, edge] : adjacency[v]) {
            if (level_of(to) < 0) {
                level_of(to) = level_of(v) + 1;
                queue.push_back(to);
            } else if (level_of(to) == level_of(v) - 1) {
                below = {to, below[0]};
            }
        }
        if (level_of(v) == 1) continue;
        const auto x = coordinates[v];
        const auto first = coordinates[below[0]];
        if (below[1] >= 0) {
            std::ranges::transform(first, coordinates[below[1]], x.begin(),
                                   [](Vertex a, Vertex b) { return std::max(a, b); });
        } else {
            const auto positive = [](Vertex a) { return a > 0; };
            if (std::ranges::count_if(first, positive) != 1) return false;
            std::ranges::copy(first, x.begin());
            ++*std::ranges::find_if(x, positive);
        }
    }
    return queue.size() + 1 == n;
}

// Whether `coordinates` map the vertices one to one onto the whole box `shape`, and the edges onto
// exactly its lattice edges. Since the edges are distinct, two checks suffice: each edge joins
// lattice neighbours, and the number of edges is that of the grid.
bool verify(const EdgeList& graph, const std::vector<Vertex>& shape, Coordinates& coordinates) {
    const auto d = shape.size();
    const std::int64_t n = graph.n_vertices;

    // Row-major strides. Each is at least twice the next, so its bit width identifies the axis.
    std::vector<std::int64_t> strides(d);
    std::array<std::size_t, 64> axis_of_width{};
    std::int64_t size = 1;
    for (auto axis = d; axis-- > 0;) {
        strides[axis] = size;
        axis_of_width[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)))] =
            axis;
        size *= shape[axis];
        if (size > n) return false;
    }
    if (size != n) return false;

    std::int64_t n_edges = 0;
    for (const auto length : shape) n_edges += n / length * (length - 1);
    if (n_edges != graph.size()) return false;

    std::vector<Vertex> index(static_cast<std::size_t>(n));
    std::vector<bool> taken(static_cast<std::size_t>(n));
    for (Vertex v = 0; v < graph.n_vertices; ++v) {
        if (static_cast<std::size_t>(v) % between_looks == 0) Watched::look();
        std::int64_t i = 0;
        for (std::size_t axis = 0; axis < d; ++axis) i += strides[axis] * coordinates[v][axis];
        if (taken[static_cast<std::size_t>(i)]) return false;
        taken[static_cast<std::size_t>(i)] = true;
        index[static_cast<std::size_t>(v)] = static_cast<Vertex>(i);
    }

    std::size_t n_seen = 0;
    return std::ranges::all_of(graph.edges, [&](Edge edge) {
        if (n_seen++ % between_looks == 0) Watched::look();
        auto [low, high] = edge;
        const auto index_of = [&](Vertex v) { return index[static_cast<std::size_t>(v)]; };
        if (index_of(low) > index_of(high)) std::swap(low, high);
        const auto step = static_cast<std::uint32_t>(index_of(high) - index_of(low));
        const auto axis = axis_of_width[static_cast<std::size_t>(std::bit_width(step))];
        return strides[axis] == step && coordinates[low][axis] + 1 < shape[axis];
    });
}

}  // namespace

std::optional<Grid> recognize_grid(const EdgeList& graph) {
    const auto n = graph.n_vertices;
    if (n == 0) return std::nullopt;
    if (n == 1) return Grid{{1}, {0}};

    // In a grid, a corner has one neighbour per axis, and every vertex has between one and two
    // neighbours per axis. This rejects most other graphs early.
    const auto degrees = degrees_of(graph);
    const auto [least, most] = std::ranges::minmax_element(degrees);
    const auto corner = static_cast<Vertex>(least - degrees.begin());
    const auto d = static_cast<std::size_t>(*least);
    if (d == 0 || d > 30 || (Vertex{1} << d) > n) return std::nullopt;
    if (*most > 2 * *least) return std::nullopt;
    const Adjacency adjacency(graph);

    // No vertex has fewer than d edges, so n d ≤ 2m and the coordinates take linear space.
    Coordinates coordinates(n, d);
    if (!guess(adjacency, corner, coordinates)) return std::nullopt;
    std::vector<Vertex> shape(d);
    for (Vertex v = 0; v < n; ++v) {
        for (std::size_t axis = 0; axis < d; ++axis) {
            shape[axis] = std::max(shape[axis], coordinates[v][axis] + 1);
        }
    }
    if (!verify(graph, shape, coordinates)) return std::nullopt;
    return Grid{std::move(shape), coordinates.release()};
}

}  // namespace graphtv

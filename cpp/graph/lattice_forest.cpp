#include "graph/lattice_forest.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "parallel/watch.hpp"

namespace graphtv {

namespace {

// Whether the edges are (0, 1), (1, 2), … up to the last vertex.
bool is_path_in_order(const EdgeList& forest) {
    if (forest.edges.size() + 1 != at(forest.n_vertices)) return false;
    Vertex next = 0;
    return std::ranges::all_of(forest.edges, [&](Edge e) {
        const Vertex here = next++;
        return e.tail == here && e.head == here + 1;
    });
}

}  // namespace

std::optional<LatticeForest> LatticeForest::recognize(const EdgeList& forest,
                                                      std::span<const double> edge_weights) {
    const auto n = at(forest.n_vertices);
    if (forest.edges.size() < n / 4 || forest.edges.empty()) return std::nullopt;
    const auto distance = [](Edge e) { return std::abs(e.head - e.tail); };
    const Vertex stride = distance(forest.edges[0]);
    if (!std::ranges::all_of(forest.edges, [&](Edge e) { return distance(e) == stride; }))
        return std::nullopt;

    LatticeForest lattice{
        stride, {}, {0}, {}, std::vector<EdgeIndex>(n, no_edge), std::vector<bool>(n)};
    if (is_path_in_order(forest)) {
        std::iota(lattice.edge.begin(), lattice.edge.end() - 1, EdgeIndex{0});
        std::fill(lattice.is_tail.begin(), lattice.is_tail.end() - 1, true);
        lattice.chain_start.push_back(0);
        lattice.chain_begin.push_back(forest.n_vertices);
    } else if (!lattice.find_chains(forest)) {
        return std::nullopt;
    }

    const double first_weight = edge_weights[0];
    if (std::ranges::all_of(edge_weights, [&](double w) { return w == first_weight; })) {
        lattice.weight.assign(1, first_weight);
        return lattice;
    }
    const auto step = at(stride);
    lattice.weight.reserve(at(lattice.chain_begin.back()));
    for (const Vertex start : lattice.chain_start) {
        if (lattice.weight.size() % 1024 < step) Watched::look();
        auto v = at(start);
        for (; lattice.edge[v] != no_edge; v += step)
            lattice.weight.push_back(edge_weights[at(lattice.edge[v])]);
        lattice.weight.push_back(0.0);
    }
    return lattice;
}

bool LatticeForest::find_chains(const EdgeList& forest) {
    const auto n = at(forest.n_vertices), step = at(stride);
    for_watched(forest.edges.size(), [&](std::size_t e) {
        const auto [tail, head] = forest.edges[e];
        const auto first = at(std::min(tail, head));
        edge[first] = static_cast<EdgeIndex>(e);
        is_tail[first] = tail < head;
    });
    const auto joins = [&](std::size_t v) { return edge[v] != no_edge; };
    // The end of the chain through each vertex. Runs backwards, so that memory is read in order.
    std::vector<Vertex> end(n);
    for_watched(n, [&](std::size_t i) {
        const std::size_t v = n - 1 - i;
        end[v] = joins(v) ? end[v + step] : static_cast<Vertex>(v);
    });
    std::size_t n_reached = 0;
    for_watched(n, [&](std::size_t v) {
        if (!joins(v) || (v >= step && joins(v - step))) return;  // not the start of a chain
        n_reached += (at(end[v]) - v) / step + 1;
        chain_start.push_back(static_cast<Vertex>(v));
        chain_begin.push_back(static_cast<Vertex>(n_reached));
    });
    return n_reached >= n / 2;
}

}  // namespace graphtv

#include "solver/forests.hpp"

#include <algorithm>
#include <numeric>

#include "parallel/watch.hpp"

namespace graphtv {

namespace {
// Up to this number, a descent over chains that store their weights contiguously stays below 12
// doubles per vertex and 3 per edge; there are 1.1 to 1.2 positions per edge.
constexpr std::size_t most_edges_per_vertex = 4;
}  // namespace

Forests::Forests(const EdgeList& graph, std::span<const double> weights,
                 std::span<const std::int32_t> labels, std::int32_t n_forests, EdgePenalty penalty,
                 std::span<const double> vertex_weights)
    : n_vertices_(at(graph.n_vertices)),
      n_edges_(graph.edges.size()),
      is_huber_(penalty.is_huber()) {
    // Sort the edges by forest, keeping their order.
    std::vector<std::int64_t> begin(at(n_forests) + 1);
    Watched::look();
    for (const auto label : labels) ++begin[at(label) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<EdgeIndex> order(graph.edges.size());
    auto next = begin;
    for_watched(labels.size(), [&](std::size_t e) {
        order[at(next[at(labels[e])]++)] = static_cast<EdgeIndex>(e);
    });

    // The layout of a small forest covers only its own vertices: L forests must not cost L·n.
    std::vector<Vertex> local(n_vertices_, -1), touched;
    std::vector<Edge> edges;
    std::vector<double> edge_weights;
    blocks_.reserve(at(n_forests));
    for (std::size_t l = 0; l < at(n_forests); ++l) {
        const std::span numbers(order.data() + begin[l], order.data() + begin[l + 1]);
        const bool is_small = numbers.size() < n_vertices_ / 4;
        edges.clear();
        edge_weights.clear();
        touched.clear();
        const auto name = [&](Vertex v) {
            if (!is_small) return v;
            if (local[at(v)] < 0) {
                local[at(v)] = static_cast<Vertex>(touched.size());
                touched.push_back(v);
            }
            return local[at(v)];
        };
        for_watched(numbers.size(), [&](std::size_t i) {
            const auto [tail, head] = graph.edges[at(numbers[i])];
            const Vertex here = name(tail), there = name(head);
            edges.push_back({here, there});
            edge_weights.push_back(weights[at(numbers[i])]);
            largest_weight_ = std::max(largest_weight_, edge_weights.back());
        });
        const auto n = is_small ? static_cast<Vertex>(touched.size()) : graph.n_vertices;
        blocks_.emplace_back(EdgeList{n, edges}, edge_weights, penalty, vertex_weights, touched,
                             n_edges_ > most_edges_per_vertex * n_vertices_);
        blocks_.back().rename_edges(numbers, weights);
        for (const Vertex v : touched) local[at(v)] = -1;
    }
}

bool Forests::is_linear() const { return std::ranges::all_of(blocks_, &ForestBlock::is_linear); }

void Forests::set_penalty(EdgePenalty penalty) {
    for (auto& block : blocks_) block.set_penalty(penalty);
}

std::size_t Forests::n_bytes() const {
    std::size_t total = workspace_.n_bytes();
    for (const auto& block : blocks_) total += block.n_bytes();
    return total;
}

}  // namespace graphtv

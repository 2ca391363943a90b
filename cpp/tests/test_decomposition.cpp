// Forest partitions and grid recognition. Partitions are checked with a plain union-find per
// forest, and not with the profile of the core, which is also tested here.
#include <bit>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "check.hpp"
#include "decomposition/grid_recognition.hpp"
#include "decomposition/linear_forests.hpp"
#include "decomposition/matroid_partition.hpp"
#include "decomposition/nested_forests.hpp"
#include "decomposition/partition_profile.hpp"
#include "graph/union_find.hpp"
#include "instances.hpp"

namespace graphtv::tests {
namespace {

struct Verdict {
    Forest n_forests = 0;
    bool acyclic = true, linear = true, nested = true, no_gaps = true;
    Forest n_spanning = 0;
};

Verdict judge(const Instance& graph, const std::vector<Forest>& labels) {
    Verdict verdict;
    for (const Forest l : labels) verdict.n_forests = std::max(verdict.n_forests, l + 1);
    UnionFind whole(graph.n_vertices);
    std::size_t rank = 0;
    for (const auto [tail, head] : graph.edges) rank += whole.unite(tail, head) ? 1 : 0;
    UnionFind before = whole;
    for (Forest l = 0; l < verdict.n_forests; ++l) {
        UnionFind trees(graph.n_vertices);
        std::vector<int> degree(at(graph.n_vertices));
        std::size_t size = 0;
        for (std::size_t e = 0; e < labels.size(); ++e) {
            if (labels[e] != l) continue;
            const auto [tail, head] = graph.edges[e];
            verdict.acyclic &= trees.unite(tail, head);
            verdict.linear &= ++degree[at(tail)] <= 2 && ++degree[at(head)] <= 2;
            verdict.nested &= before.find(tail) == before.find(head);
            ++size;
        }
        verdict.no_gaps &= size > 0;
        if (size == rank && verdict.n_spanning == l) ++verdict.n_spanning;
        before = trees;
    }
    return verdict;
}

// max over vertex sets S of ⌈|E(S)| / (|S| - 1)⌉ (Nash-Williams), by enumeration.
Forest arboricity(const Instance& graph) {
    std::int64_t most = 0;
    for (std::uint32_t set = 0; set < (1u << graph.n_vertices); ++set) {
        const auto size = std::popcount(set);
        if (size < 2) continue;
        const auto inside = std::ranges::count_if(graph.edges, [set](Edge e) {
            return (set >> e.tail & 1u) != 0 && (set >> e.head & 1u) != 0;
        });
        most = std::max<std::int64_t>(most, (inside + size - 2) / (size - 1));
    }
    return static_cast<Forest>(most);
}

void check_profile(const Instance& graph, const std::vector<Forest>& labels, const Verdict& v) {
    const auto profile = profile_partition(graph.view(), labels, v.n_forests);
    check((profile.cyclic < 0) == v.acyclic);
    if (!v.acyclic) return;
    check(profile.is_nested == v.nested && profile.n_spanning == v.n_spanning);
    check((profile.max_degree.empty() || std::ranges::max(profile.max_degree) <= 2) == v.linear);
    for (Forest l = 0; l < v.n_forests; ++l) {
        check(profile.edges[at(l)] == std::ranges::count(labels, l));
        check(profile.longest[at(l)] >= 2 && profile.trees[at(l)] >= 1);
    }
}

void check_partitions(const Instance& graph, Random& random) {
    std::vector<EdgeIndex> order(graph.edges.size());
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, random);
    const auto judged = [&](const std::vector<Forest>& labels) {
        const auto v = judge(graph, labels);
        check(v.acyclic && v.no_gaps);
        check_profile(graph, labels, v);
        return v;
    };
    check(judged(first_fit_linear_forests(graph.view(), order)).linear);
    check(judged(residual_linear_forests(graph.view(), order)).linear);
    const auto nested = judged(nested_forests(graph.view(), order));
    check(nested.nested);
    check(judged(traversal_forests(graph.view(), Traversal::breadth_first)).nested);
    check(judged(traversal_forests(graph.view(), Traversal::depth_first)).nested);
    const auto fewest = judged(matroid_partition(graph.view(), order, [] {}));
    check(fewest.nested && fewest.n_forests <= nested.n_forests);
    check(fewest.n_spanning >= nested.n_spanning);
    if (graph.n_vertices <= 9) check(fewest.n_forests == arboricity(graph));
}

void partitions_are_what_they_claim() {
    Random random(1);
    for (int trial = 0; trial < 150; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 0, 9));
        check_partitions(random_graph(n, static_cast<int>(integer(random, 0, 40)), random), random);
    }
    for (const Vertex n : {2, 30, 300}) check_partitions(random_graph(n, 6 * n, random), random);
    check_partitions(random_graph(60, 1'700, random), random);  // nearly complete
    for (const Shape shape : all_shapes) check_partitions(tree(shape, 300, random), random);
}

// A random partition is usually invalid: the profile must report this.
void profile_of_any_labels() {
    Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        const auto graph = random_graph(static_cast<Vertex>(integer(random, 2, 12)), 14, random);
        std::vector<Forest> labels(graph.edges.size());
        for (auto& label : labels) label = static_cast<Forest>(integer(random, 0, 3));
        const auto v = judge(graph, labels);
        if (v.no_gaps) check_profile(graph, labels, v);
    }
}

void matroid_partition_can_be_interrupted() {
    Random random(3);
    const auto graph = random_graph(3'000, 12'000, random);
    std::vector<EdgeIndex> order(graph.edges.size());
    std::iota(order.begin(), order.end(), 0);
    check(throws<std::runtime_error>(
        [&] { matroid_partition(graph.view(), order, [] { throw std::runtime_error("stop"); }); }));
}

Instance grid(const std::vector<Vertex>& shape) {
    Instance graph{std::accumulate(shape.begin(), shape.end(), Vertex{1}, std::multiplies{}), {}};
    Vertex stride = 1;
    for (auto axis = shape.size(); axis-- > 0;) {
        for (Vertex v = 0; v < graph.n_vertices; ++v)
            if (v / stride % shape[axis] + 1 < shape[axis]) graph.edges.push_back({v, v + stride});
        stride *= shape[axis];
    }
    return graph;
}

void grids_are_recognised_in_any_order() {
    Random random(4);
    const std::vector<std::vector<Vertex>> shapes{{1},       {2},       {7},          {2, 2},
                                                  {3, 5},    {20, 31},  {2, 3, 4},    {5, 5, 5},
                                                  {2, 2, 2}, {2, 9, 2}, {3, 2, 4, 2}, {2, 2, 2, 2}};
    for (auto shape : shapes) {
        const auto straight = recognize_grid(grid(shape).view());
        if (!check(straight.has_value())) continue;
        check(straight->shape == shape);
        const auto graph = scrambled(grid(shape), random);
        const auto found = recognize_grid(graph.view());
        if (!check(found.has_value())) continue;
        // Every edge joins lattice neighbours, no two vertices share a position, and the lengths
        // agree.
        const auto d = shape.size();
        std::set<std::vector<Vertex>> places;
        const auto place = [&](Vertex v) {
            const auto first = found->coordinates.begin() + v * static_cast<std::ptrdiff_t>(d);
            return std::vector<Vertex>(first, first + static_cast<std::ptrdiff_t>(d));
        };
        for (Vertex v = 0; v < graph.n_vertices; ++v) places.insert(place(v));
        check(places.size() == at(graph.n_vertices));
        for (const auto [tail, head] : graph.edges) {
            const auto a = place(tail), b = place(head);
            Vertex distance = 0;
            for (std::size_t i = 0; i < d; ++i) distance += std::abs(a[i] - b[i]);
            check(distance == 1);
        }
        auto lengths = found->shape;
        std::ranges::sort(lengths);
        std::ranges::sort(shape);
        check(lengths == shape);

        if (shape.size() < 2 || shape == std::vector<Vertex>{2, 2}) continue;
        // Without one edge it is no grid. A ring of four is excluded, since it would become a path.
        auto damaged = graph;
        damaged.edges.pop_back();
        check(!recognize_grid(damaged.view()));
    }
    check(!recognize_grid({0, {}}));
    check(!recognize_grid({2, {}}));
}

void random_graphs_are_rarely_grids() {
    Random random(5);
    for (int trial = 0; trial < 2'000; ++trial) {
        const auto graph = random_graph(static_cast<Vertex>(integer(random, 1, 10)),
                                        static_cast<int>(integer(random, 0, 30)), random);
        if (const auto found = recognize_grid(graph.view())) {
            const auto expected = grid(found->shape);
            check(expected.n_vertices == graph.n_vertices);
            check(expected.edges.size() == graph.edges.size());
        }
    }
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    partitions_are_what_they_claim();
    profile_of_any_labels();
    matroid_partition_can_be_interrupted();
    grids_are_recognised_in_any_order();
    random_graphs_are_rarely_grids();
    return verdict();
}

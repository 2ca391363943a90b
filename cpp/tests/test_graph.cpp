// simplify, adjacency, rooted and chain forests, degeneracy, order, runs, lattices: the invariants
// that their headers state.
#include <map>
#include <stdexcept>

#include "check.hpp"
#include "graph/adjacency.hpp"
#include "graph/chain_forest.hpp"
#include "graph/cuthill_mckee.hpp"
#include "graph/degeneracy.hpp"
#include "graph/edge_run.hpp"
#include "graph/lattice_shape.hpp"
#include "graph/rooted_forest.hpp"
#include "graph/simplify.hpp"
#include "graph/union_find.hpp"
#include "instances.hpp"

namespace graphtv::tests {
namespace {

// Sums in order of first occurrence, with a std::map.
void simplify_sums_parallel_edges() {
    Random random(1);
    for (int trial = 0; trial < 300; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 1, 12));
        std::vector<Edge> edges;
        std::vector<double> weights;
        std::map<std::pair<Vertex, Vertex>, std::size_t> first;
        std::vector<Edge> expected_edges;
        std::vector<double> expected_weights;
        for (auto i = integer(random, 0, 60); i-- > 0;) {
            const Edge edge{static_cast<Vertex>(integer(random, 0, n - 1)),
                            static_cast<Vertex>(integer(random, 0, n - 1))};
            const auto weight = static_cast<double>(integer(random, 0, 3));
            edges.push_back(edge);
            weights.push_back(weight);
            if (edge.tail == edge.head) continue;
            const auto [place, is_new] =
                first.try_emplace(std::minmax(edge.tail, edge.head), expected_edges.size());
            if (is_new) {
                expected_edges.push_back(edge);
                expected_weights.push_back(weight);
            } else {
                expected_weights[place->second] += weight;
            }
        }
        const auto simple = simplify(n, edges, weights);
        std::size_t next = 0;
        check(simple.edges.size() == simple.weights.size());
        for (std::size_t i = 0; i < expected_edges.size(); ++i) {
            if (expected_weights[i] == 0.0) continue;
            if (!check(next < simple.edges.size())) break;
            check(simple.edges[next].tail == expected_edges[i].tail);
            check(simple.edges[next].head == expected_edges[i].head);
            check(simple.weights[next] == expected_weights[i]);
            ++next;
        }
        check(next == simple.edges.size());
    }
    check(simplify(0, {}, {}).edges.empty());
    check(simplify(5, {}, {}).edges.empty());
}

void adjacency_lists_every_half_edge_once() {
    Random random(2);
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 0, 20));
        const auto graph = random_graph(n, 40, random);
        const Adjacency adjacency(graph.view());
        check(adjacency.n_vertices() == n);
        std::size_t n_half_edges = 0;
        for (Vertex v = 0; v < n; ++v) {
            EdgeIndex previous = -1;
            for (const auto [to, e] : adjacency[v]) {
                const auto [tail, head] = graph.edges[at(e)];
                check((tail == v && head == to) || (head == v && tail == to));
                check(e > previous);  // in the order of the edge list
                previous = e;
                ++n_half_edges;
            }
            check(at(adjacency.degree(v)) == adjacency[v].size());
        }
        check(n_half_edges == 2 * graph.edges.size());
    }
}

void check_rooted(const Instance& graph) {
    std::vector<double> weights(graph.edges.size());
    std::iota(weights.begin(), weights.end(), 1.0);
    const RootedForest forest(graph.view(), weights);
    const auto n = at(forest.size());
    std::vector<bool> touched(at(graph.n_vertices)), edge_seen(graph.edges.size());
    for (const auto [tail, head] : graph.edges) touched[at(tail)] = touched[at(head)] = true;
    check(n == static_cast<std::size_t>(std::ranges::count(touched, true)));
    check(forest.tree_begin.front() == 0 && forest.tree_begin.back() == forest.size());

    std::vector<Vertex> subtree(n, 1), children(n);
    std::vector<std::int64_t> largest_child(n), first_child(n, -1);
    std::size_t n_edges = 0;
    for (std::size_t t = 0; t + 1 < forest.tree_begin.size(); ++t) {
        const auto begin = forest.tree_begin[t], end = forest.tree_begin[t + 1];
        for (auto i = begin; i < end; ++i) {
            check(touched[at(forest.vertex[at(i)])]);
            touched[at(forest.vertex[at(i)])] = false;  // every vertex once
            const Vertex parent = forest.parent[at(i)];
            if (i == end - 1) {
                check(parent == RootedForest::no_parent && forest.weight[at(i)] == 0.0);
                continue;
            }
            check(parent > i && parent < end);
            subtree[at(parent)] += subtree[at(i)];
            ++children[at(parent)];
            if (first_child[at(parent)] < 0) first_child[at(parent)] = i;
            largest_child[at(parent)] =
                std::max(largest_child[at(parent)], std::int64_t{subtree[at(i)]});
            const auto e = at(forest.edge[at(i)]);
            const auto [tail, head] = graph.edges[e];
            const Vertex here = forest.vertex[at(i)], above = forest.vertex[at(parent)];
            check(forest.is_tail[at(i)] ? tail == here && head == above
                                        : tail == above && head == here);
            check(forest.weight[at(i)] == weights[e]);
            check(!edge_seen[e]);
            edge_seen[e] = true;
            ++n_edges;
        }
    }
    check(n_edges == graph.edges.size());
    // Euler tour: the intervals [entry, entry + 2 size) are nested like the subtrees, with a free
    // slot for the parent at both ends.
    for (std::size_t i = 0; i < n; ++i) {
        check(forest.n_children[i] == children[i]);
        if (first_child[i] >= 0) check(subtree[at(first_child[i])] == largest_child[i]);
        check(forest.entry[i] + 2 * at(subtree[i]) <= 2 * n);
        const Vertex parent = forest.parent[i];
        if (parent == RootedForest::no_parent) continue;
        check(forest.entry[at(parent)] < forest.entry[i]);
        check(forest.entry[i] + 2 * at(subtree[i]) <
              forest.entry[at(parent)] + 2 * at(subtree[at(parent)]));
    }
    for (std::size_t t = 0; t + 1 < forest.tree_begin.size(); ++t)
        check(forest.entry[at(forest.tree_begin[t + 1] - 1)] == 2 * at(forest.tree_begin[t]));
}

void rooted_forest_invariants() {
    Random random(3);
    for (const Shape shape : all_shapes)
        for (const Vertex n : {1, 2, 3, 4, 7, 30, 200})
            for (int trial = 0; trial < 8; ++trial) check_rooted(tree(shape, n, random));
    check_rooted({0, {}});
    check_rooted({3, {}});
    check_rooted(tree(Shape::path, 200'000, random));  // no recursion anywhere
    const std::vector<double> ones(3, 1.0);
    const Instance triangle{3, {{0, 1}, {1, 2}, {2, 0}}};
    check(throws<std::invalid_argument>([&] { RootedForest(triangle.view(), ones); }));
}

void chain_forest_invariants() {
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        // Cut a path at random places.
        auto graph = tree(Shape::path, static_cast<Vertex>(integer(random, 1, 40)), random);
        std::erase_if(graph.edges, [&](Edge) { return random() % 5 == 0; });
        const ChainForest chains(graph.view());
        check(chains.chain_begin.front() == 0 && chains.chain_begin.back() == chains.size());
        std::vector<bool> seen(at(graph.n_vertices));
        std::size_t n_edges = 0;
        Vertex longest = 0;
        for (Vertex c = 0; c < chains.n_chains(); ++c) {
            const auto begin = chains.chain_begin[at(c)], end = chains.chain_begin[at(c) + 1];
            check(end - begin >= 2);
            longest = std::max(longest, end - begin);
            for (auto i = at(begin); i < at(end); ++i) {
                check(!seen[at(chains.vertex[i])]);
                seen[at(chains.vertex[i])] = true;
                if (i + 1 == at(end)) {
                    check(chains.edge[i] == ChainForest::no_edge);
                    continue;
                }
                const auto e = at(chains.edge[i]);
                const auto [tail, head] = graph.edges[e];
                const Vertex here = chains.vertex[i], next = chains.vertex[i + 1];
                check(chains.is_tail[i] ? tail == here && head == next
                                        : tail == next && head == here);
                ++n_edges;
            }
        }
        check(longest == chains.longest && n_edges == graph.edges.size());
    }
    const Instance ring{3, {{0, 1}, {1, 2}, {2, 0}}}, claw{4, {{0, 1}, {0, 2}, {0, 3}}};
    const Instance ring_and_path{5, {{0, 1}, {1, 2}, {2, 0}, {3, 4}}};
    for (const auto* graph : {&ring, &claw, &ring_and_path})
        check(throws<std::invalid_argument>([&] { ChainForest(graph->view()); }));
    check(ChainForest({4, {}}).size() == 0);
}

// Compares with the definition: removal of a vertex of least degree in O(n²).
void degeneracy_is_the_largest_least_degree() {
    Random random(5);
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 0, 15));
        const auto graph = random_graph(n, 50, random);
        std::vector<bool> gone(at(n));
        Vertex expected = 0;
        for (Vertex left = n; left > 0; --left) {
            std::vector<Vertex> degree(at(n));
            for (const auto [tail, head] : graph.edges) {
                if (gone[at(tail)] || gone[at(head)]) continue;
                ++degree[at(tail)];
                ++degree[at(head)];
            }
            Vertex least = -1;
            for (Vertex v = 0; v < n; ++v)
                if (!gone[at(v)] && (least < 0 || degree[at(v)] < degree[at(least)])) least = v;
            expected = std::max(expected, degree[at(least)]);
            gone[at(least)] = true;
        }
        check(degeneracy(graph.view()) == expected);
    }
}

// The order is a permutation that depends only on the graph. In every tree, children come before
// their parent, and a path stays a path.
void cuthill_mckee_breaks_ties_by_number() {
    Random random(7);
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<Vertex>(integer(random, 0, 20));
        auto graph = random_graph(n, 30, random);
        const auto order = reverse_cuthill_mckee(graph.view());
        std::vector<int> count(at(n));
        for (const Vertex v : order) ++count[at(v)];
        check(count == std::vector<int>(at(n), 1));
        std::ranges::reverse(graph.edges);
        for (auto& [tail, head] : graph.edges) std::swap(tail, head);
        check(order == reverse_cuthill_mckee(graph.view()));
    }
    const std::vector<Edge> star{{2, 3}, {2, 1}, {2, 4}, {2, 0}};
    check(reverse_cuthill_mckee({5, star}) == std::vector<Vertex>{4, 3, 1, 2, 0});
    const std::vector<Edge> path{{3, 1}, {1, 0}, {0, 2}};
    check(reverse_cuthill_mckee({5, path}) == std::vector<Vertex>{3, 1, 0, 2, 4});
}

// Runs cover all edges in order; each is as long as its edges and the bound allow.
void runs_go_on_by_one_vertex() {
    Random random(1);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<Edge> edges;
        for (auto i = integer(random, 0, 20); i-- > 0;) {
            const auto tail = static_cast<Vertex>(integer(random, 0, 30));
            const auto head = static_cast<Vertex>(integer(random, 0, 30));
            const auto length = static_cast<Vertex>(integer(random, 1, trial < 150 ? 60 : 700));
            for (Vertex k = 0; k < length; ++k) edges.push_back({tail + k, head + k});
        }
        const auto follows = [&](std::size_t e) {
            return edges[e].tail == edges[e - 1].tail + 1 && edges[e].head == edges[e - 1].head + 1;
        };
        std::size_t next = 0;
        for_each_run(edges, 0, edges.size(), [&](std::size_t first, std::size_t length) {
            check(first == next && length >= 1 && length <= longest_run);
            next = first + length;
            for (std::size_t e = first + 1; e < next; ++e) check(follows(e));
            check(length == longest_run || next == edges.size() || !follows(next));
        });
        check(next == edges.size());
    }
}

// Accepts the edges of a grid, also with some missing, reversed and in another order. Rejects any
// additional edge.
void lattice_shape_is_that_of_the_grid() {
    Random random(1);
    const std::vector<std::vector<Vertex>> shapes{{2, 3}, {5, 2}, {9, 7}, {4, 300}, {3, 4, 5}};
    for (const auto& shape : shapes) {
        Instance grid{1, {}};
        for (const Vertex length : shape) grid.n_vertices *= length;
        Vertex stride = 1;
        for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
            for (Vertex v = 0; v < grid.n_vertices; ++v)
                if (v / stride % shape[axis] + 1 < shape[axis])
                    grid.edges.push_back({v, v + stride});
        check(lattice_shape(grid.view()) == shape);
        for (int trial = 0; trial < 20; ++trial) {
            Instance other = grid;
            shuffle(other.edges, random);
            for (auto& [tail, head] : other.edges)
                if (uniform(random) < 0.5) std::swap(tail, head);
            check(lattice_shape(other.view()) == shape);
            if (grid.n_vertices >= 60) {
                other.edges.resize(other.edges.size() * 4 / 5);
                check(lattice_shape(other.view()) == shape);
            }
            const Vertex end = shape.back() - 1;  // the next vertex is on another line
            other.edges.push_back({end, end + 1});
            check(lattice_shape(other.view()).empty());
            other.edges.back() = {0, end + 2};  // a diagonal
            check(lattice_shape(other.view()) != shape);
            other.edges.resize(other.edges.size() / 3);
            check(lattice_shape(other.view()).empty());
        }
    }
    check(lattice_shape({0, {}}).empty() && lattice_shape({4, {}}).empty());
    const std::vector<Edge> path{{0, 1}, {1, 2}, {2, 3}};
    check(lattice_shape({4, path}).empty());
}

}  // namespace
}  // namespace graphtv::tests

int main() {
    using namespace graphtv::tests;
    simplify_sums_parallel_edges();
    adjacency_lists_every_half_edge_once();
    rooted_forest_invariants();
    chain_forest_invariants();
    degeneracy_is_the_largest_least_degree();
    cuthill_mckee_breaks_ties_by_number();
    runs_go_on_by_one_vertex();
    lattice_shape_is_that_of_the_grid();
    return verdict();
}

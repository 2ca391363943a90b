#include "graph/renumbering.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "graph/adjacency.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

namespace {

// Lines of eight values, each of which has one place.
class Cache {
  public:
    Cache() : lines_(n_lines, -1) {}
    bool misses(Vertex v) {
        const Vertex line = v >> 3;
        Vertex& place = lines_[at(line % n_lines)];
        const bool is_new = place != line;
        place = line;
        return is_new;
    }

  private:
    static constexpr Vertex n_lines = 1 << 12;
    std::vector<Vertex> lines_;
};

// The half-edges at each vertex. Half-edges at the head of edge e have the number ~e.
class HalfEdges {
  public:
    explicit HalfEdges(const EdgeList& graph)
        : ends_(at(graph.n_vertices) + 1), half_edges_(2 * graph.edges.size()) {
        const std::size_t m = graph.edges.size();
        for_watched(m, [&](std::size_t e) {
            ++ends_[at(graph.edges[e].tail)];
            ++ends_[at(graph.edges[e].head)];
        });
        std::uint32_t end = 0;  // 2m < 2^32
        for (auto& place : ends_) place = end += place;
        for_watched(m, [&](std::size_t i) {
            const auto e = static_cast<EdgeIndex>(m - 1 - i);
            const auto [tail, head] = graph.edges[m - 1 - i];
            half_edges_[--ends_[at(tail)]] = {head, e};
            half_edges_[--ends_[at(head)]] = {tail, ~e};
        });
    }
    std::span<const HalfEdge> operator[](Vertex v) const {
        return {half_edges_.data() + ends_[at(v)], half_edges_.data() + ends_[at(v) + 1]};
    }

  private:
    std::vector<std::uint32_t> ends_;
    std::vector<HalfEdge> half_edges_;
};

// Shuffles the edges of each block of the list.
void shuffle_blocks(Renumbering& found) {
    constexpr std::size_t block = 256;
    std::uint32_t state = 1;
    for (std::size_t first = 0; first < found.edges.size(); first += block) {
        const std::size_t length = std::min(block, found.edges.size() - first);
        for (std::size_t k = length - 1; k > 0; --k) {
            state = 1664525u * state + 1013904223u;
            const std::size_t other = (state >> 8) % (k + 1);
            std::swap(found.edges[first + k], found.edges[first + other]);
            std::swap(found.order[first + k], found.order[first + other]);
        }
    }
}

}  // namespace

double misses_per_edge(std::span<const Edge> edges) {
    constexpr std::size_t n_samples = 4, length = 1 << 14;
    const std::size_t stride = edges.size() / n_samples;
    std::size_t misses = 0, count = 0;
    Cache cache;
    for (std::size_t s = 0; s < n_samples; ++s)
        for (const Edge& edge : edges.subspan(s * stride, std::min(stride, length))) {
            misses += cache.misses(edge.tail);
            misses += cache.misses(edge.head);
            ++count;
        }
    return count == 0 ? 0.0 : static_cast<double>(misses) / static_cast<double>(count);
}

// When the search leaves a vertex, all of its neighbours have a number. So its edges follow at once.
std::optional<Renumbering> renumber(const EdgeList& graph) {
    const Vertex n = graph.n_vertices;
    const HalfEdges half_edges(graph);
    Renumbering found;
    found.vertices.reserve(at(n));
    found.order.reserve(graph.edges.size());
    found.edges.reserve(graph.edges.size());
    std::vector<Vertex> number(at(n), -1);
    const auto see = [&](Vertex v) {
        if (number[at(v)] >= 0) return;
        number[at(v)] = static_cast<Vertex>(found.vertices.size());
        found.vertices.push_back(v);
    };
    const auto widest = at(std::max<Vertex>(n / 16, 1));
    std::size_t visited = 0, level_end = 0;
    std::vector<HalfEdge> later;  // to vertices with larger numbers
    for (Vertex start = 0; start < n; ++start) {
        see(start);
        for (; visited < found.vertices.size(); ++visited) {
            if (visited == level_end) {
                Watched::look();
                if (found.vertices.size() - visited > widest) return std::nullopt;
                level_end = found.vertices.size();
            }
            const auto tail = static_cast<Vertex>(visited);
            later.clear();
            for (const auto& [to, e] : half_edges[found.vertices[visited]]) {
                see(to);
                if (number[at(to)] > tail) later.push_back({number[at(to)], e});
            }
            std::ranges::sort(later, {}, &HalfEdge::to);
            for (const auto& [head, e] : later) {
                found.order.push_back(e < 0 ? ~e : e);
                found.edges.push_back(e < 0 ? Edge{head, tail} : Edge{tail, head});
            }
        }
    }
    shuffle_blocks(found);
    return found;
}

}  // namespace graphtv

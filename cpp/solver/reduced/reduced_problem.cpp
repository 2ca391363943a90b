#include "solver/reduced/reduced_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph/union_find.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

namespace {

// Edges are contracted in bands of increasing jumps. These are the shares of all edges below the
// upper ends of the bands.
constexpr std::array shares = {0.3,  0.45, 0.55,  0.65,  0.72,  0.78, 0.83,  0.87, 0.9,
                               0.93, 0.95, 0.965, 0.975, 0.985, 0.99, 0.995, 1.0};

// The number of edges from which the ends of the bands are estimated.
constexpr std::size_t sample_size = 4096;

// The ends of the bands, from every k-th jump.
std::array<float, shares.size()> band_ends(std::span<const float> jumps) {
    const std::size_t stride = jumps.size() / sample_size + 1;
    std::vector<float> sample;
    for (std::size_t e = 0; e < jumps.size(); e += stride) sample.push_back(jumps[e]);
    std::ranges::sort(sample);
    std::array<float, shares.size()> ends;
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const auto rank = static_cast<std::size_t>(shares[k] * static_cast<double>(sample.size()));
        ends[k] = rank < sample.size() ? sample[rank] : std::numeric_limits<float>::infinity();
    }
    return ends;
}

}  // namespace

ReducedProblem::ReducedProblem(const SquaredProblem& fine, std::span<const double> u,
                               Vertex most_parts) {
    find_parts(fine, u, most_parts);
    gather_vertices(fine);
    gather_edges(fine);
}

// Single linkage: the components of the graph of all edges below a threshold. Parts are numbered in
// the order of their first vertices.
void ReducedProblem::find_parts(const SquaredProblem& fine, std::span<const double> u,
                                Vertex most_parts) {
    const auto& edges = fine.graph.edges;
    const std::size_t n = u.size();
    const auto [least, most] = std::ranges::minmax(u);
    const double unit = most > least ? 1.0 / (most - least) : 0.0;
    std::vector<float> jumps(edges.size());
    for_watched(edges.size(), [&](std::size_t e) {
        jumps[e] = static_cast<float>(unit * std::abs(u[at(edges[e].tail)] - u[at(edges[e].head)]));
    });
    UnionFind sets(fine.graph.n_vertices);
    Vertex n_sets = fine.graph.n_vertices;
    float from = -1.0F;
    for (const float to : band_ends(jumps)) {
        if (n_sets <= most_parts) break;
        for_watched(edges.size(), [&](std::size_t e) {
            if (jumps[e] > from && jumps[e] <= to)
                n_sets -= sets.unite(edges[e].tail, edges[e].head);
        });
        from = to;
    }
    part_.assign(n, -1);
    for_watched(n, [&](std::size_t v) {
        Vertex& number = part_[at(sets.find(static_cast<Vertex>(v)))];
        if (number < 0) number = n_parts_++;
        part_[v] = number;
    });
}

void ReducedProblem::gather_vertices(const SquaredProblem& fine) {
    const std::size_t n = part_.size();
    c_.resize(at(n_parts_));
    signal_.resize(at(n_parts_));
    for_watched(n, [&](std::size_t v) {
        c_[at(part_[v])] += fine.weight(v);
        signal_[at(part_[v])] += fine.weight(v) * fine.signal[v];
    });
    for (std::size_t k = 0; k < c_.size(); ++k) signal_[k] /= c_[k];
    for_watched(n, [&](std::size_t v) {
        const double distance = fine.signal[v] - signal_[at(part_[v])];
        constant_ += 0.5 * fine.weight(v) * distance * distance;
    });
}

// Sorts the edges between parts by their first part, and adds up those with the same second part.
void ReducedProblem::gather_edges(const SquaredProblem& fine) {
    const auto& edges = fine.graph.edges;
    struct Crossing {
        Vertex high;
        double weight, flow;  // from the lower to the higher part
    };
    std::vector<EdgeIndex> begin(at(n_parts_) + 1);
    for_watched(edges.size(), [&](std::size_t e) {
        const Vertex a = part_[at(edges[e].tail)], b = part_[at(edges[e].head)];
        if (a != b) ++begin[at(std::min(a, b)) + 1];
    });
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<Crossing> crossings(at(begin.back()));
    for_watched(edges.size(), [&](std::size_t e) {
        const Vertex a = part_[at(edges[e].tail)], b = part_[at(edges[e].head)];
        if (a == b) return;
        const double flow = fine.weights[e] * fine.p[e];
        crossings[at(begin[at(std::min(a, b))]++)] = {std::max(a, b), fine.weights[e],
                                                      a < b ? flow : -flow};
    });
    // After filling, every range starts where it should end.
    std::vector<EdgeIndex> last(at(n_parts_), -1);  // the edge to each part
    std::size_t i = 0;
    for (Vertex low = 0; low < n_parts_; ++low) {
        const std::size_t first = edges_.size();
        for (; i < at(begin[at(low)]); ++i) {
            const auto [high, weight, flow] = crossings[i];
            EdgeIndex& found = last[at(high)];
            if (found < 0 || at(found) < first) {
                found = static_cast<EdgeIndex>(edges_.size());
                edges_.push_back({low, high});
                weights_.push_back(0.0);
                p_.push_back(0.0);
            }
            weights_[at(found)] += weight;
            p_[at(found)] += flow;
        }
        if (low % 1024 == 0) Watched::look();
    }
    for (std::size_t e = 0; e < p_.size(); ++e)
        p_[e] = weights_[e] > 0.0 ? std::clamp(p_[e] / weights_[e], -1.0, 1.0) : 0.0;
}

void ReducedProblem::expand(std::span<const double> values, std::span<double> out) const {
    for_watched(part_.size(), [&](std::size_t v) { out[v] = values[at(part_[v])]; });
}

}  // namespace graphtv

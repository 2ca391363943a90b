#include "solver/newton/multigrid.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "parallel/watch.hpp"

namespace graphtv {

namespace {

constexpr Vertex none = -1;
constexpr double heaviest = 1e30;
constexpr std::size_t largest_aggregate = 4;
// Levels of this size are solved by many sweeps.
constexpr std::size_t coarsest = 8;
constexpr int coarsest_sweeps = 8;
// A vertex whose edges weigh less than this fraction of its C needs no correction.
constexpr double weak = 0.2;
// Functions that are constant on aggregates are too stiff, so corrections are too short by about this
// factor. The preconditioner stays definite below 2.
constexpr double correction = 1.6;
// Further levels must be smaller than this fraction.
constexpr double least_reduction = 0.8;

}  // namespace

Multigrid::Multigrid(const EdgeList& graph) : levels_(1) {
    Level& level = levels_[0];
    const std::size_t n = at(graph.n_vertices), m = graph.edges.size();
    level.c.resize(n);
    level.start.assign(n + 1, 0);
    level.split.assign(n, 0);
    level.halves.resize(2 * m);
    edge_.resize(2 * m);
    for_watched(m, [&](std::size_t e) {
        const auto [tail, head] = graph.edges[e];
        ++level.start[at(tail) + 1];
        ++level.start[at(head) + 1];
        ++level.split[at(std::max(tail, head))];
    });
    std::vector<std::int64_t> lower(n), upper(n);
    for (std::size_t i = 0; i < n; ++i) {
        level.start[i + 1] += level.start[i];
        lower[i] = level.start[i];
        upper[i] = level.split[i] += level.start[i];
    }
    for_watched(m, [&](std::size_t e) {
        const auto [tail, head] = graph.edges[e];
        const Vertex low = std::min(tail, head), high = std::max(tail, head);
        const auto up = at(upper[at(low)]++), down = at(lower[at(high)]++);
        level.halves[up].to = high;
        level.halves[down].to = low;
        edge_[up] = edge_[down] = static_cast<EdgeIndex>(e);
    });
    // The neighbour whose value a sweep has just changed comes last, so that the sums of consecutive
    // vertices overlap.
    std::vector<std::pair<Vertex, EdgeIndex>> sorted;
    const auto sort = [&](std::size_t begin, std::size_t end, bool descends) {
        if (end - begin < 2) return;
        sorted.clear();
        for (auto k = begin; k < end; ++k) sorted.emplace_back(level.halves[k].to, edge_[k]);
        std::ranges::sort(sorted);
        if (descends) std::ranges::reverse(sorted);
        for (auto k = begin; k < end; ++k) {
            level.halves[k].to = sorted[k - begin].first;
            edge_[k] = sorted[k - begin].second;
        }
    };
    for_watched(n, [&](std::size_t i) {
        sort(at(level.start[i]), at(level.split[i]), false);
        sort(at(level.split[i]), at(level.start[i + 1]), true);
    });
}

void Multigrid::set(std::span<const double> diagonal, std::span<const double> weights) {
    Level& finest = levels_[0];
    std::ranges::copy(diagonal, finest.c.begin());
    for_watched(edge_.size(), [&](std::size_t k) {
        finest.halves[k].weight = static_cast<float>(std::min(weights[at(edge_[k])], heaviest));
    });
    finest.invert();
    for (std::size_t l = 0;; ++l) {
        const auto n = static_cast<double>(levels_[l].size());
        const Vertex n_next = levels_[l].size() <= coarsest ? 0 : levels_[l].aggregate();
        if (n_next == 0 || n_next > least_reduction * n) {
            levels_.resize(l + 1);
            levels_[l].parent.clear();
            return;
        }
        if (levels_.size() == l + 1) levels_.emplace_back();
        coarsen(levels_[l], n_next, levels_[l + 1]);
        levels_[l + 1].invert();
    }
}

void Multigrid::Level::invert() {
    inverse.resize(size());
    for_watched(size(), [&](std::size_t i) {
        double sum = c[i];
        for (auto k = at(start[i]); k < at(start[i + 1]); ++k) sum += halves[k].weight;
        inverse[i] = sum > 0.0 ? 1.0 / sum : 1.0;
    });
}

// Assigns the vertices to aggregates and returns their number. A vertex that has no aggregate yet
// begins one, and takes in the neighbours of its members along the heaviest edges. If all are taken, it
// joins the aggregate of its heaviest neighbour.
Vertex Multigrid::Level::aggregate() {
    parent.assign(size(), none);
    Vertex count = 0;
    for_watched(size(), [&](std::size_t i) {
        if (parent[i] != none || inverse[i] * c[i] >= 1.0 / (1.0 + weak)) return;
        std::array<Vertex, largest_aggregate> members{static_cast<Vertex>(i)};
        parent[i] = count;
        std::size_t n_members = 1;
        float strongest = 0.0f;
        while (n_members < largest_aggregate) {
            Half best{none, 0.0f};
            for (std::size_t a = 0; a < n_members; ++a) {
                const auto v = at(members[a]);
                for (auto k = at(start[v]); k < at(start[v + 1]); ++k)
                    if (halves[k].weight > best.weight && parent[at(halves[k].to)] == none)
                        best = halves[k];
            }
            // Weak edges would only make the aggregate worse.
            if (best.to == none || best.weight < weak * std::max<double>(strongest, c[i])) break;
            strongest = std::max(strongest, best.weight);
            members[n_members++] = best.to;
            parent[at(best.to)] = count;
        }
        if (n_members == 1) {
            Half best{none, 0.0f};
            for (auto k = at(start[i]); k < at(start[i + 1]); ++k)
                if (halves[k].weight > best.weight && at(halves[k].to) != i &&
                    parent[at(halves[k].to)] != none)
                    best = halves[k];
            if (best.to != none) {
                parent[i] = parent[at(best.to)];
                return;
            }
        }
        ++count;
    });
    return count;
}

// The matrix on functions that are constant on aggregates. Edges to vertices without an aggregate
// become part of C.
void Multigrid::coarsen(const Level& fine, Vertex n_aggregates, Level& coarse) {
    const std::size_t n = at(n_aggregates);
    std::vector<Vertex> members(fine.size());
    std::vector<std::int64_t> first(n + 2, 0);
    for (const Vertex g : fine.parent)
        if (g != none) ++first[at(g) + 2];
    for (std::size_t g = 2; g < first.size(); ++g) first[g] += first[g - 1];
    for (std::size_t i = 0; i < fine.size(); ++i)
        if (fine.parent[i] != none)
            members[at(first[at(fine.parent[i]) + 1]++)] = static_cast<Vertex>(i);
    coarse.c.assign(n, 0.0);
    coarse.start.assign(n + 1, 0);
    coarse.split.assign(n, 0);
    coarse.halves.clear();
    coarse.halves.reserve(fine.halves.size() / 3);
    std::vector<std::int32_t> place(n, -1);  // in `found`, of the half-edge to an aggregate
    std::vector<Half> found;
    for_watched(n, [&](std::size_t g) {
        found.clear();
        for (auto a = at(first[g]); a < at(first[g + 1]); ++a) {
            const auto i = at(members[a]);
            coarse.c[g] += fine.c[i];
            for (auto k = at(fine.start[i]); k < at(fine.start[i + 1]); ++k) {
                const auto [to, weight] = fine.halves[k];
                const Vertex other = fine.parent[at(to)];
                if (at(other) == g) continue;
                if (other == none) {
                    coarse.c[g] += weight;
                } else if (place[at(other)] < 0) {
                    place[at(other)] = static_cast<std::int32_t>(found.size());
                    found.push_back({other, weight});
                } else {
                    found[at(place[at(other)])].weight += weight;
                }
            }
        }
        for (const bool is_lower : {true, false}) {
            for (const Half& half : found)
                if ((at(half.to) < g) == is_lower) coarse.halves.push_back(half);
            if (is_lower) coarse.split[g] = static_cast<std::int64_t>(coarse.halves.size());
        }
        for (const Half& half : found) place[at(half.to)] = -1;
        coarse.start[g + 1] = static_cast<std::int64_t>(coarse.halves.size());
    });
    for (auto* vector : {&coarse.b, &coarse.x}) vector->resize(n);
}

void Multigrid::apply(std::span<const double> b, std::span<double> x) {
    Watched::look();
    cycle(0, b, x);
}

// Recursive over the levels, whose number is logarithmic in n.
void Multigrid::cycle(std::size_t l, std::span<const double> b, std::span<double> x) {
    Level& level = levels_[l];
    const std::size_t n = level.size();
    const auto backward = [&] {
        for (std::size_t i = n; i-- > 0;) {
            double sum = b[i];
            for (auto k = at(level.start[i]); k < at(level.start[i + 1]); ++k)
                sum += level.halves[k].weight * x[at(level.halves[k].to)];
            x[i] = sum * level.inverse[i];
        }
    };
    for (std::size_t i = 0; i < n; ++i) {
        double sum = b[i];
        for (auto k = at(level.start[i]); k < at(level.split[i]); ++k)
            sum += level.halves[k].weight * x[at(level.halves[k].to)];
        x[i] = sum * level.inverse[i];
    }
    if (level.parent.empty()) {
        backward();
        for (int sweep = 1; sweep < coarsest_sweeps && n <= coarsest; ++sweep) {
            for (std::size_t i = 0; i < n; ++i) {
                double sum = b[i];
                for (auto k = at(level.start[i]); k < at(level.start[i + 1]); ++k)
                    sum += level.halves[k].weight * x[at(level.halves[k].to)];
                x[i] = sum * level.inverse[i];
            }
            backward();
        }
        return;
    }
    // After a forward sweep from 0 only edges to larger vertices contribute to the residual.
    Level& next = levels_[l + 1];
    std::ranges::fill(next.b, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        if (level.parent[i] == none) continue;
        double sum = 0.0;
        for (auto k = at(level.split[i]); k < at(level.start[i + 1]); ++k)
            sum += level.halves[k].weight * x[at(level.halves[k].to)];
        next.b[at(level.parent[i])] += sum;
    }
    cycle(l + 1, next.b, next.x);
    for (std::size_t i = 0; i < n; ++i)
        if (level.parent[i] != none) x[i] += correction * next.x[at(level.parent[i])];
    backward();
}

}  // namespace graphtv

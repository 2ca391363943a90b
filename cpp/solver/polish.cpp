#include "solver/polish.hpp"

#include <cmath>

namespace graphtv {

template <class Real>
bool Polish::run(std::span<const Real> p, double slack, std::span<double> u, Watch& watch) {
    const std::size_t n = term_.n_vertices(), m = graph_.edges.size();
    for (std::size_t c = 0; c < term_.n_channels(); ++c)
        if (!run_channel(c, p.subspan(c * m, m), slack, u.subspan(c * n, n), watch)) return false;
    return true;
}

template <class Real>
bool Polish::run_channel(std::size_t channel, std::span<const Real> p, double slack,
                         std::span<double> u, Watch& watch) {
    const auto ends = [&] { return watch.expired(); };
    UnionFind sets(graph_.n_vertices);
    is_cut_.assign(p.size(), false);
    const bool fused = for_watched(p.size(), ends, [&](std::size_t e) {
        if (std::abs(value_of(p[e])) < 1.0 - slack)
            sets.unite(graph_.edges[e].tail, graph_.edges[e].head);
        else
            is_cut_[e] = true;
    });
    if (!fused) return false;
    for (int round = 0; round < max_rounds; ++round) {
        if (!gather_components(sets, watch)) return false;
        // Cut edges push their ends apart with their full weight. Edges that are inside a component
        // by now are no longer cut.
        slope_.assign(begin_.size() - 1, 0.0);
        value_.resize(slope_.size());
        if (!for_watched(p.size(), ends, [&](std::size_t e) {
                if (!is_cut_[e]) return;
                const std::size_t a = at(label_[at(graph_.edges[e].tail)]);
                const std::size_t b = at(label_[at(graph_.edges[e].head)]);
                if (a == b) {
                    is_cut_[e] = false;
                    return;
                }
                const double flow = std::copysign(weights_[e], value_of(p[e]));
                slope_[a] += flow;
                slope_[b] -= flow;
            }))
            return false;
        if (!for_watched(slope_.size(), ends, [&](std::size_t k) {
                const std::span<const Vertex> members(
                    vertices_.data() + begin_[k],
                    static_cast<std::size_t>(begin_[k + 1] - begin_[k]));
                value_[k] = term_.minimizer(members, channel, slope_[k]);
            }))
            return false;
        bool flipped = false;
        if (!for_watched(p.size(), ends, [&](std::size_t e) {
                if (!is_cut_[e]) return;
                const auto [tail, head] = graph_.edges[e];
                const double rise = value_[at(label_[at(tail)])] - value_[at(label_[at(head)])];
                if (rise * value_of(p[e]) < 0.0) flipped = sets.unite(tail, head) || flipped;
            }))
            return false;
        if (!flipped) break;
    }
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = value_[at(label_[i])];
    return true;
}

// Labels in the order of the first vertices of the components, then a counting sort.
bool Polish::gather_components(UnionFind& sets, Watch& watch) {
    const auto ends = [&] { return watch.expired(); };
    const std::size_t n = at(graph_.n_vertices);
    label_.assign(n, -1);
    vertices_.resize(n);
    begin_.assign(1, 0);
    if (!for_watched(n, ends, [&](std::size_t v) {
            Vertex& root_label = label_[at(sets.find(static_cast<Vertex>(v)))];
            if (root_label < 0) {
                root_label = static_cast<Vertex>(begin_.size() - 1);
                begin_.push_back(0);
            }
            label_[v] = root_label;
            ++begin_[at(root_label) + 1];
        }))
        return false;
    for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
    if (!for_watched(n, ends, [&](std::size_t v) {
            vertices_[at(begin_[at(label_[v])]++)] = static_cast<Vertex>(v);
        }))
        return false;
    // After filling, every range starts where it should end.
    for (std::size_t k = begin_.size() - 1; k > 0; --k) begin_[k] = begin_[k - 1];
    begin_[0] = 0;
    return true;
}

template bool Polish::run(std::span<const double>, double, std::span<double>, Watch&);
template bool Polish::run(std::span<const Rounded>, double, std::span<double>, Watch&);

}  // namespace graphtv

#include "solver/pdhg/edge_dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parallel/watch.hpp"
#include "terms/elementary.hpp"
#include "terms/sum.hpp"

namespace graphtv {

EdgeDual::EdgeDual(const EdgeList& graph, std::span<const double> weights, const Penalty& penalty,
                   std::size_t n_channels, BlendMemory memory)
    : graph_(graph),
      weights_(weights),
      penalty_(&penalty),
      by_edge_(penalty.by_edge()),
      n_channels_(n_channels),
      offsets_(at(graph.n_vertices) + 1),
      divergence_(at(graph.n_vertices) * n_channels) {
    incident_.resize(2 * graph.edges.size());
    const std::size_t size = graph.edges.size() * n_channels;
    for (auto [values, is_needed] : {std::pair{&p_, true},
                                     {&point_, memory.point},
                                     {&anchor_, memory.anchor},
                                     {&target_, !by_edge_}}) {
        Watched::look();
        values->resize(is_needed ? size : 0);
    }
    // A counting sort. The counts are shifted by two places, so that after filling place[v] is the
    // start of v.
    std::vector<std::int64_t> place(offsets_.size() + 1);
    for_watched(graph.edges.size(), [&](std::size_t e) {
        ++place[at(graph.edges[e].tail) + 2];
        ++place[at(graph.edges[e].head) + 2];
    });
    for (std::size_t v = 2; v < place.size(); ++v) place[v] += place[v - 1];
    for_watched(graph.edges.size(), [&](std::size_t i) {
        const auto e = static_cast<EdgeIndex>(i);
        const auto [tail, head] = graph.edges[i];
        incident_[at(place[at(tail) + 1]++)] = e;
        incident_[at(place[at(head) + 1]++)] = -1 - e;
    });
    std::copy_n(place.begin(), offsets_.size(), offsets_.begin());
}

EdgeDual EdgeDual::unscaled(const EdgeList& graph, std::span<const double> weights,
                            const Penalty& penalty, std::size_t n_channels, BlendMemory memory) {
    EdgeDual dual(graph, weights, penalty, n_channels, memory);
    dual.squared_operator_norm_ = dual.power_iteration();
    if (!dual.by_edge_) dual.steps_.resize(1);
    return dual;
}

EdgeDual EdgeDual::diagonal(const EdgeList& graph, std::span<const double> weights,
                            const Penalty& penalty, std::size_t n_channels, BlendMemory memory,
                            double alpha) {
    EdgeDual dual(graph, weights, penalty, n_channels, memory);
    dual.inverse_metric_.resize(weights.size());
    dual.primal_metric_.resize(at(graph.n_vertices));
    for_watched(weights.size(), [&](std::size_t e) {
        dual.inverse_metric_[e] = 0.5 * elementary::power(weights[e], -alpha);
        const double share = elementary::power(weights[e], 2.0 - alpha);
        dual.primal_metric_[at(graph.edges[e].tail)] += share;
        dual.primal_metric_[at(graph.edges[e].head)] += share;
    });
    // A vertex without edges gets the step of the one with the heaviest ones.
    double most = 0.0;
    for (const double s : dual.primal_metric_) most = std::max(most, s);
    for (double& s : dual.primal_metric_)
        if (s == 0.0) s = most > 0.0 ? most : 1.0;
    dual.share_metric(penalty.edge_groups());
    if (!dual.by_edge_) dual.steps_.resize(weights.size());
    return dual;
}

// A group has a single step size: the smallest of its edges.
void EdgeDual::share_metric(std::span<const std::int32_t> groups) {
    if (groups.empty()) return;
    std::vector<double> least(at(*std::ranges::max_element(groups)) + 1,
                              std::numeric_limits<double>::infinity());
    for_watched(groups.size(), [&](std::size_t e) {
        double& inverse = least[at(groups[e])];
        inverse = std::min(inverse, inverse_metric_[e]);
    });
    for_watched(groups.size(), [&](std::size_t e) { inverse_metric_[e] = least[at(groups[e])]; });
}

double EdgeDual::power_iteration() const {
    std::vector<double> degree(at(graph_.n_vertices));
    for_watched(weights_.size(), [&](std::size_t e) {
        for (const Vertex v : {graph_.edges[e].tail, graph_.edges[e].head})
            degree[at(v)] += weights_[e] * weights_[e];
    });
    double bound = 0.0;
    Edge heaviest{};
    for_watched(graph_.edges.size(), [&](std::size_t e) {
        const Edge edge = graph_.edges[e];
        const double sum = degree[at(edge.tail)] + degree[at(edge.head)];
        if (sum > bound) heaviest = edge;
        bound = std::max(bound, sum);
    });
    if (bound == 0.0) return 1.0;
    // Power iteration with KᵀK. It starts from the weighted degrees times irregular numbers in [-1,
    // 1), so that the start is not in the kernel of K. The ends of the heaviest edge get different
    // values, since the sought vector may be supported there alone. The iteration converges from
    // below ‖K‖²; a margin of 1 % covers the remaining error.
    std::vector<double> x(degree), y(degree.size());
    std::uint32_t random = 1;
    for (double& value : x) {
        random = random * 1664525u + 1013904223u;
        value *= static_cast<double>(random) * 0x1p-31 - 1.0;
    }
    x[at(heaviest.tail)] = degree[at(heaviest.tail)];
    x[at(heaviest.head)] = -degree[at(heaviest.head)];
    double found = 0.0;
    for (int iteration = 0; iteration < 1000; ++iteration) {
        double norm = 0.0;
        for (const double value : x) norm += value * value;
        norm = std::sqrt(norm);
        if (norm == 0.0) return bound;
        std::fill(y.begin(), y.end(), 0.0);
        double quotient = 0.0;
        for_watched(weights_.size(), [&](std::size_t e) {
            const auto [tail, head] = graph_.edges[e];
            const double gradient = weights_[e] * (x[at(tail)] - x[at(head)]) / norm;
            quotient += gradient * gradient;
            y[at(tail)] += weights_[e] * gradient;
            y[at(head)] -= weights_[e] * gradient;
        });
        const double before = found;
        found = quotient;
        if (found == 0.0 || 1.01 * found >= bound) return bound;
        x.swap(y);
        if (std::abs(found - before) <= 1e-5 * found) break;
    }
    return std::min(1.01 * found, bound);
}

DualVariable::Movement EdgeDual::step(std::span<const double> ubar, double t, const Blend& blend,
                                      int n_threads, Watch&) {
    if (!by_edge_) {
        const double squared = move_groups(ubar, t, blend, n_threads);
        gather(n_threads);
        return {true, squared};
    }
    // A single thread adds the edges of each vertex in the same order as `gather`.
    const bool scatters = n_threads == 1;
    if (scatters) std::fill(divergence_.begin(), divergence_.end(), 0.0);
    const double squared = inverse_metric_.empty()
                               ? move<false>(ubar, t, blend, n_threads, scatters)
                               : move<true>(ubar, t, blend, n_threads, scatters);
    if (!scatters) gather(n_threads);
    return {true, squared};
}

// Computes p̂ by edge. Returns ‖p̂ - p_k‖_T².
template <bool is_scaled>
double EdgeDual::move(std::span<const double> ubar, double t, const Blend& blend, int n_threads,
                      bool scatters) {
    const auto m = weights_.size(), n = at(graph_.n_vertices);
    double squared = 0.0;
    for (std::size_t c = 0; c < n_channels_; ++c) {
        const double* u = ubar.data() + c * n;
        double* p = p_.data() + c * m;
        double* divergence = scatters ? divergence_.data() + c * n : nullptr;
        double* point = point_.empty() ? nullptr : point_.data() + c * m;
        const double* anchor = anchor_.empty() ? nullptr : anchor_.data() + c * m;
        const EdgePenalty h = *by_edge_;
        const double inverse_t = 1.0 / t;
        squared += quick_sum_of(m, n_threads, [=, this, &blend](std::size_t e) {
            const auto [tail, head] = graph_.edges[e];
            const double weight = weights_[e], gradient = weight * (u[at(tail)] - u[at(head)]);
            const double inverse = is_scaled ? inverse_metric_[e] : 1.0;
            const double step = inverse * inverse_t;
            double from = p[e];
            if (point) from = point[e] = blend(point[e], p[e], anchor ? anchor[e] : 0.0);
            const double to = h.prox_conjugate(from + step * gradient, step);
            p[e] = to;
            if (divergence) {
                divergence[at(tail)] += weight * to;
                divergence[at(head)] -= weight * to;
            }
            const double moved = (to - from) * (to - from);
            return is_scaled ? moved / inverse : moved;
        });
    }
    return squared;
}

// The same in three passes, for penalties whose proximal map couples several entries.
double EdgeDual::move_groups(std::span<const double> ubar, double t, const Blend& blend,
                             int n_threads) {
    const auto m = weights_.size(), n = at(graph_.n_vertices);
    std::vector<double>& start = point_.empty() ? p_ : point_;
    for (std::size_t c = 0; c < n_channels_; ++c)
        for_shards(m, n_threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t e = first, i = c * m + e; e < last; ++e, ++i) {
                const auto [tail, head] = graph_.edges[e];
                const double gradient =
                    weights_[e] * (ubar[c * n + at(tail)] - ubar[c * n + at(head)]);
                if (!point_.empty())
                    point_[i] = blend(point_[i], p_[i], anchor_.empty() ? 0.0 : anchor_[i]);
                target_[i] = start[i] + inverse_metric(e) / t * gradient;
            }
        });
    for (std::size_t e = 0; e < steps_.size(); ++e) steps_[e] = inverse_metric(e) / t;
    penalty_->prox_conjugate(target_, steps_, target_, n_threads);
    return quick_sum_of(target_.size(), n_threads, [&](std::size_t i) {
        const double moved = target_[i] - start[i];
        p_[i] = target_[i];
        return moved * moved / inverse_metric(i % m);
    });
}

double EdgeDual::anchor(int n_threads) {
    const auto m = weights_.size();
    return quick_sum_of(anchor_.size(), n_threads, [&](std::size_t i) {
        const double moved = p_[i] - anchor_[i];
        anchor_[i] = p_[i];
        return moved * moved / inverse_metric(i % m);
    });
}

double EdgeDual::squared_length(int n_threads) const {
    const auto m = weights_.size();
    return quick_sum_of(p_.size(), n_threads,
                        [&](std::size_t i) { return p_[i] * p_[i] / inverse_metric(i % m); });
}

void EdgeDual::gather(int n_threads) {
    const auto m = weights_.size(), n = at(graph_.n_vertices);
    for (std::size_t c = 0; c < n_channels_; ++c) {
        const double* p = p_.data() + c * m;
        for_shards(n, n_threads, [&](std::size_t first, std::size_t last) {
            for (auto v = first; v < last; ++v) {
                double sum = 0.0;
                for (auto i = at(offsets_[v]); i < at(offsets_[v + 1]); ++i) {
                    const EdgeIndex k = incident_[i];
                    const auto e = at(k >= 0 ? k : -1 - k);
                    const double flow = weights_[e] * p[e];
                    sum += k >= 0 ? flow : -flow;
                }
                divergence_[c * n + v] = sum;
            }
        });
    }
}

double EdgeDual::conjugate(int n_threads) {
    if (by_edge_ && !by_edge_->is_huber()) return 0.0;
    return penalty_->conjugate(std::span<const double>(p_), n_threads);
}

void EdgeDual::get(std::span<double> p, int n_threads) {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        std::copy(p_.data() + first, p_.data() + last, p.data() + first);
    });
}

void EdgeDual::set(std::span<const double> p, int n_threads) {
    std::copy(p.begin(), p.end(), p_.begin());
    if (!point_.empty()) point_ = p_;
    if (!anchor_.empty()) anchor_ = p_;
    gather(n_threads);
}

}  // namespace graphtv

#include "solver/newton/group_system.hpp"

#include <algorithm>

#include "parallel/watch.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

double product(std::span<const double> a, std::span<const double> b) {
    return quick_sum_of(a.size(), 1, [&](std::size_t i) { return a[i] * b[i]; });
}

}  // namespace

GroupSystem::GroupSystem(const EdgeList& graph, std::span<const double> weights,
                         const GroupNorms& penalty)
    : graph_(graph), weights_(weights), penalty_(penalty), multigrid_(graph) {}

void GroupSystem::resize(std::size_t n_channels) {
    n_channels_ = n_channels;
    const std::size_t n = at(graph_.n_vertices) * n_channels, m = weights_.size() * n_channels;
    a.resize(penalty_.n_groups());
    for (auto* vector : {&l, &r}) vector->resize(m);
    for (auto* vector : {&c, &residual_, &z_, &direction_, &image_}) vector->resize(n);
}

void GroupSystem::precondition() {
    const std::size_t n = at(graph_.n_vertices), m = weights_.size();
    const double share = 1.0 / static_cast<double>(n_channels_);
    std::vector<double> diagonal(n), edges(m);
    for_watched(penalty_.n_groups(), [&](std::size_t g) {
        penalty_.group(g, 0, n_channels_).for_each([&](std::size_t e, std::size_t, std::size_t i) {
            edges[e] += share * a[g] * (1.0 - l[i] * r[i]);
        });
    });
    for (std::size_t e = 0; e < m; ++e) edges[e] *= weights_[e] * weights_[e];
    for (std::size_t k = 0; k < c.size(); ++k) diagonal[k % n] += share * c[k];
    multigrid_.set(diagonal, edges);
}

void GroupSystem::apply(std::span<const double> x, std::span<double> out) const {
    const std::size_t n = at(graph_.n_vertices);
    for (std::size_t k = 0; k < x.size(); ++k) out[k] = c[k] * x[k];
    for_watched(penalty_.n_groups(), [&](std::size_t g) {
        const auto group = penalty_.group(g, 0, n_channels_);
        const auto difference = [&](std::size_t e, std::size_t channel) {
            const auto [tail, head] = graph_.edges[e];
            return weights_[e] * (x[channel * n + at(tail)] - x[channel * n + at(head)]);
        };
        double along_l = 0.0, along_r = 0.0;
        group.for_each([&](std::size_t e, std::size_t channel, std::size_t i) {
            const double d = difference(e, channel);
            along_l += l[i] * d;
            along_r += r[i] * d;
        });
        group.for_each([&](std::size_t e, std::size_t channel, std::size_t i) {
            const auto [tail, head] = graph_.edges[e];
            const double rest = 0.5 * (l[i] * along_r + r[i] * along_l);
            const double flow = weights_[e] * a[g] * (difference(e, channel) - rest);
            out[channel * n + at(tail)] += flow;
            out[channel * n + at(head)] -= flow;
        });
    });
}

// z = the preconditioned residual, channel by channel.
void GroupSystem::cycle() {
    const std::size_t n = at(graph_.n_vertices);
    for (std::size_t first = 0; first < z_.size(); first += n)
        multigrid_.apply(std::span(residual_).subspan(first, n), std::span(z_).subspan(first, n));
}

int GroupSystem::solve(std::span<const double> b, std::span<double> x, double accuracy, int most) {
    std::ranges::copy(b, residual_.begin());
    std::ranges::fill(x, 0.0);
    cycle();
    std::ranges::copy(z_, direction_.begin());
    double size = product(residual_, z_);
    const double enough = accuracy * accuracy * size;
    for (int iteration = 1; iteration <= most; ++iteration) {
        apply(direction_, image_);
        const double curvature = product(direction_, image_);
        if (!(curvature > 0.0)) return iteration - 1;
        const double step = size / curvature;
        for (std::size_t k = 0; k < x.size(); ++k) {
            x[k] += step * direction_[k];
            residual_[k] -= step * image_[k];
        }
        if (iteration == most) return most;
        cycle();
        const double next = product(residual_, z_);
        if (!(next > enough)) return iteration;
        const double momentum = next / size;
        for (std::size_t k = 0; k < x.size(); ++k) direction_[k] = z_[k] + momentum * direction_[k];
        size = next;
    }
    return most;
}

}  // namespace graphtv

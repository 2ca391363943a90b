#include "solver/descent/coupled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Weights and their inverses beyond this, in units of the range of the data, have no effect. Its
// square is finite.
constexpr double largest = 1e100;

// Iterations after which the rounding errors of u and r may matter.
constexpr int longest_drift = 1024;

}  // namespace

CoupledDescent::CoupledDescent(const EdgeList& graph, std::span<const double> weights,
                               std::span<const double> signal,
                               std::span<const double> vertex_weights)
    : graph_(graph),
      n_channels_(signal.size() / at(graph.n_vertices)),
      width_(coupled_width(n_channels_)),
      capacity_(weights.size()),
      inverse_(vertex_weights.size()),
      g_(at(graph.n_vertices) * width_),
      means_(n_channels_),
      momentum_({}) {
    const std::size_t n = at(graph.n_vertices);
    for (std::size_t c = 0; c < n_channels_; ++c) {
        const auto channel = signal.subspan(c * n, n);
        means_[c] = std::accumulate(channel.begin(), channel.end(), 0.0) / static_cast<double>(n);
        const auto [least, most] = std::ranges::minmax(channel);
        range_ = std::max({range_, most - means_[c], means_[c] - least});
    }
    if (!(range_ > 0.0)) range_ = 1.0;
    for_watched(n, [&](std::size_t i) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            g_[i * width_ + c] = (signal[c * n + i] - means_[c]) / range_;
    });
    for_watched(weights.size(), [&](std::size_t e) {
        capacity_[e] = std::min(std::max(weights[e] / range_, 1.0 / largest), largest);
    });
    for (std::size_t i = 0; i < inverse_.size(); ++i) inverse_[i] = 1.0 / vertex_weights[i];
    for (auto* flow : {&x_, &y_}) {
        Watched::look();
        flow->resize(weights.size() * width_);
    }
    u_ = g_;
    r_ = g_;
}

CoupledEdges CoupledDescent::edges() {
    return {graph_.edges.data(),
            capacity_.data(),
            inverse_.empty() ? nullptr : inverse_.data(),
            x_.data(),
            y_.data(),
            r_.data(),
            capacity_.size(),
            width_};
}

void CoupledDescent::start_from(std::span<const double> p) {
    const std::size_t m = capacity_.size();
    for_watched(m, [&](std::size_t e) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            x_[e * width_ + c] = capacity_[e] * p[c * m + e];
    });
    restart();
}

// out = g - C⁻¹∇ᵀflow.
void CoupledDescent::apply(const std::vector<double>& flow, std::vector<double>& out) const {
    std::ranges::copy(g_, out.begin());
    for_watched(capacity_.size(), [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const double a = inverse_.empty() ? 1.0 : inverse_[i];
        const double b = inverse_.empty() ? 1.0 : inverse_[j];
        for (std::size_t c = 0; c < width_; ++c) {
            out[i * width_ + c] -= a * flow[e * width_ + c];
            out[j * width_ + c] += b * flow[e * width_ + c];
        }
    });
    Watched::look();
}

// Computes u from x and resets the momentum.
void CoupledDescent::restart() {
    apply(x_, u_);
    forget_momentum();
    momentum_.start();
    drift_ = 0;
    is_torn_ = false;
}

void CoupledDescent::settle() {
    if (is_torn_) {
        restart();
    } else if (drift_ >= longest_drift) {
        is_torn_ = true;  // if the watch expires here
        apply(x_, u_);
        apply(y_, r_);
        drift_ = 0;
        is_torn_ = false;
    }
}

void CoupledDescent::forget_momentum() {
    std::ranges::copy(u_, r_.begin());
    std::ranges::copy(x_, y_.begin());
}

int CoupledDescent::step(Watch& watch, int, int) {
    settle();
    momentum_.advance();
    double uphill = 0.0;
    if (!sweep(watch, uphill)) {
        is_torn_ = true;
        return 0;
    }
    const double beta = momentum_.beta();
    const double energy = extrapolate(edges(), u_.data(), at(graph_.n_vertices), beta);
    ++drift_;
    if (momentum_.restarts(uphill, energy)) forget_momentum();
    return 1;
}

// Updates x from y edge by edge, together with the next y. r changes from g - C⁻¹∇ᵀy to g - C⁻¹∇ᵀx.
bool CoupledDescent::sweep(Watch& watch, double& uphill) {
    const double beta = momentum_.beta();
    const auto all = edges();
    const std::size_t length = all.n_edges / n_stretches;
    for (std::size_t k = 0; k < length && !watch.expired(); k += between_looks)
        uphill += move(all, k, std::min(k + between_looks, length), beta);
    if (watch.expired()) return false;
    uphill += move_rest(all, beta);
    return true;
}

void CoupledDescent::u(std::span<double> out) {
    settle();
    const std::size_t n = at(graph_.n_vertices);
    for (std::size_t c = 0; c < n_channels_; ++c)
        for_watched(
            n, [&](std::size_t i) { out[c * n + i] = range_ * u_[i * width_ + c] + means_[c]; });
}

void CoupledDescent::dual(std::span<double> p, int n_threads) const {
    const std::size_t m = capacity_.size();
    for_shards(m, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            for (std::size_t e = first; e < last; ++e)
                p[c * m + e] = x_[e * width_ + c] / capacity_[e];
    });
}

double CoupledDescent::primal_value() {
    settle();
    const double fidelity = quick_sum_of(at(graph_.n_vertices), 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * width_; k < (i + 1) * width_; ++k) {
            const auto d = u_[k] - g_[k];
            squares += d * d;
        }
        return 0.5 * squares * weight(i);
    });
    const double variation = quick_sum_of(capacity_.size(), 1, [&](std::size_t e) {
        const double* tail = &u_[at(graph_.edges[e].tail) * width_];
        const double* head = &u_[at(graph_.edges[e].head) * width_];
        double squares = 0;
        for (std::size_t c = 0; c < width_; ++c)
            squares += (tail[c] - head[c]) * (tail[c] - head[c]);
        return static_cast<double>(capacity_[e] * std::sqrt(squares));
    });
    return range_ * range_ * (fidelity + variation);
}

// Flows do not change the weighted total of u, so g² - u² may be computed about any centre.
double CoupledDescent::dual_value() {
    settle();
    const double sum = quick_sum_of(at(graph_.n_vertices), 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * width_; k < (i + 1) * width_; ++k) {
            const auto g = g_[k], u = u_[k];
            squares += (g - u) * (g + u);
        }
        return 0.5 * squares * weight(i);
    });
    return range_ * range_ * sum;
}

}  // namespace graphtv

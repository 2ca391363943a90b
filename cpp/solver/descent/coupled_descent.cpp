#include "solver/descent/coupled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terms/sum.hpp"

namespace graphtv {

CoupledDescent::CoupledDescent(const EdgeList& graph, std::span<const double> weights,
                               std::span<const double> signal,
                               std::span<const double> vertex_weights)
    : graph_(graph),
      weights_(weights),
      n_channels_(signal.size() / at(graph.n_vertices)),
      f_(signal.size()),
      means_(n_channels_),
      momentum_({}) {
    const std::size_t n = at(graph.n_vertices);
    for (std::size_t c = 0; c < n_channels_; ++c) {
        const auto channel = signal.subspan(c * n, n);
        means_[c] = std::accumulate(channel.begin(), channel.end(), 0.0) / static_cast<double>(n);
        for_watched(n, [&](std::size_t i) { f_[i * n_channels_ + c] = channel[i] - means_[c]; });
    }
    for (auto* flow : {&x_, &y_}) {
        Watched::look();
        flow->resize(weights.size() * n_channels_);
    }
    u_ = f_;
    r_ = f_;
    for (const double c : vertex_weights) inverse_.push_back(1.0 / c);
}

void CoupledDescent::start_from(std::span<const double> p) {
    const std::size_t m = weights_.size();
    for_watched(m, [&](std::size_t e) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            x_[e * n_channels_ + c] = weights_[e] * p[c * m + e];
    });
    recompute();
}

// Computes u from x and resets the momentum.
void CoupledDescent::recompute() {
    std::ranges::copy(f_, u_.begin());
    for_watched(weights_.size(), [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const double a = inverse(i), b = inverse(j);
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double flow = x_[e * n_channels_ + c];
            u_[i * n_channels_ + c] -= a * flow;
            u_[j * n_channels_ + c] += b * flow;
        }
    });
    std::ranges::copy(u_, r_.begin());
    std::ranges::copy(x_, y_.begin());
    momentum_.start();
    is_torn_ = false;
}

int CoupledDescent::step(Watch& watch, int, int) {
    settle();
    momentum_.advance();
    double uphill = 0.0;
    const bool finished = n_channels_ == 2   ? sweep<2>(watch, uphill)
                          : n_channels_ == 3 ? sweep<3>(watch, uphill)
                                             : sweep<0>(watch, uphill);
    if (!finished) {
        is_torn_ = true;
        return 0;
    }
    const double beta = momentum_.beta();
    double energy = 0.0;
    for (std::size_t i = 0; i < at(graph_.n_vertices); ++i) {
        double squares = 0.0;
        for (std::size_t k = i * n_channels_; k < (i + 1) * n_channels_; ++k) {
            const double u = r_[k];
            squares += u * u;
            r_[k] = u + beta * (u - u_[k]);
            u_[k] = u;
        }
        energy += 0.5 * squares / inverse(i);
    }
    if (momentum_.restarts(uphill, energy)) {
        std::ranges::copy(u_, r_.begin());
        std::ranges::copy(x_, y_.begin());
    }
    return 1;
}

// Updates x from y edge by edge, together with the next y. r changes from f - C⁻¹∇ᵀy to f - C⁻¹∇ᵀx.
// Consecutive edges of a list mostly share a vertex, so each would wait for the previous one. The
// sweep therefore interleaves several stretches of the list.
template <std::size_t known_channels>
bool CoupledDescent::sweep(Watch& watch, double& uphill) {
    const std::size_t n_channels = known_channels > 0 ? known_channels : n_channels_;
    const double beta = momentum_.beta();
    const auto move = [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const double a = inverse(i), b = inverse(j), per = 1.0 / (a + b);
        double *tail = &r_[i * n_channels], *head = &r_[j * n_channels];
        double *x = &x_[e * n_channels], *y = &y_[e * n_channels];
        double squares = 0.0;
        for (std::size_t c = 0; c < n_channels; ++c) {
            const double top = y[c] + per * (tail[c] - head[c]);
            squares += top * top;
        }
        const double w = weights_[e], scale = squares > w * w ? w / std::sqrt(squares) : 1.0;
        for (std::size_t c = 0; c < n_channels; ++c) {
            const double moved = scale * (y[c] + per * (tail[c] - head[c]));
            const double step = moved - y[c], change = moved - x[c];
            tail[c] -= a * step;
            head[c] += b * step;
            uphill -= step * change;
            y[c] = moved + beta * change;
            x[c] = moved;
        }
    };
    constexpr std::size_t n_stretches = 4;
    const std::size_t length = weights_.size() / n_stretches;
    const bool finished = for_watched(
        length, [&] { return watch.expired(); },
        [&](std::size_t k) {
            for (std::size_t s = 0; s < n_stretches; ++s) move(s * length + k);
        });
    if (!finished || watch.expired()) return false;
    for (std::size_t e = n_stretches * length; e < weights_.size(); ++e) move(e);
    return true;
}

void CoupledDescent::u(std::span<double> out) {
    settle();
    const std::size_t n = at(graph_.n_vertices);
    for (std::size_t c = 0; c < n_channels_; ++c)
        for_watched(n,
                    [&](std::size_t i) { out[c * n + i] = u_[i * n_channels_ + c] + means_[c]; });
}

void CoupledDescent::dual(std::span<double> p, int n_threads) const {
    const std::size_t m = weights_.size();
    for_shards(m, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t e = first; e < last; ++e)
            for (std::size_t c = 0; c < n_channels_; ++c)
                p[c * m + e] = x_[e * n_channels_ + c] / weights_[e];
    });
}

double CoupledDescent::primal_value() {
    settle();
    const std::size_t n = at(graph_.n_vertices);
    const double fidelity = quick_sum_of(n, 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * n_channels_; k < (i + 1) * n_channels_; ++k)
            squares += (u_[k] - f_[k]) * (u_[k] - f_[k]);
        return 0.5 * squares / inverse(i);
    });
    return fidelity + quick_sum_of(weights_.size(), 1, [&](std::size_t e) {
               const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
               double squares = 0.0;
               for (std::size_t c = 0; c < n_channels_; ++c) {
                   const double d = u_[i * n_channels_ + c] - u_[j * n_channels_ + c];
                   squares += d * d;
               }
               return weights_[e] * std::sqrt(squares);
           });
}

// Flows do not change the weighted total of u, so f² - u² may be computed about any centre.
double CoupledDescent::dual_value() {
    settle();
    return quick_sum_of(at(graph_.n_vertices), 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * n_channels_; k < (i + 1) * n_channels_; ++k)
            squares += (f_[k] - u_[k]) * (f_[k] + u_[k]);
        return 0.5 * squares / inverse(i);
    });
}

}  // namespace graphtv

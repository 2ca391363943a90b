#include "solver/descent/edge_descent.hpp"

#include <algorithm>

#include "terms/sum.hpp"

namespace graphtv {

EdgeDescent::EdgeDescent(const EdgeList& graph, std::span<const double> weights,
                         std::span<const double> signal, std::span<const double> vertex_weights)
    : graph_(graph),
      weights_(weights),
      f_(signal),
      c_(vertex_weights),
      u_(signal.begin(), signal.end()),
      r_(u_),
      momentum_(signal) {
    for (auto* flow : {&x_, &y_}) {
        Watched::look();
        flow->resize(weights.size());
    }
    inverse_.reserve(c_.size());
    for (const double c : c_) inverse_.push_back(1.0 / c);
}

void EdgeDescent::start_from(std::span<const double> p) {
    for_watched(x_.size(), [&](std::size_t e) { x_[e] = weights_[e] * p[e]; });
    recompute();
}

// Computes u from x and resets the momentum.
void EdgeDescent::recompute() {
    std::copy(f_.begin(), f_.end(), u_.begin());
    for_watched(x_.size(), [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        u_[i] -= c_.empty() ? x_[e] : inverse_[i] * x_[e];
        u_[j] += c_.empty() ? x_[e] : inverse_[j] * x_[e];
    });
    std::copy(u_.begin(), u_.end(), r_.begin());
    std::copy(x_.begin(), x_.end(), y_.begin());
    momentum_.start();
    is_torn_ = false;
}

bool EdgeDescent::step(Watch& watch) {
    settle();
    momentum_.advance();
    double uphill = 0.0;
    const bool finished = c_.empty() ? sweep<false>(watch, uphill) : sweep<true>(watch, uphill);
    if (!finished) {
        is_torn_ = true;
        return false;
    }
    const double beta = momentum_.beta(), centre = momentum_.centre();
    double energy = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i) {
        const double u = r_[i], centred = u - centre;
        energy += 0.5 * (c_.empty() ? 1.0 : c_[i]) * centred * centred;
        r_[i] = u + beta * (u - u_[i]);
        u_[i] = u;
    }
    if (momentum_.restarts(uphill, energy)) {
        std::copy(u_.begin(), u_.end(), r_.begin());
        std::copy(x_.begin(), x_.end(), y_.begin());
    }
    return true;
}

// Updates x from y edge by edge, together with the next y. r changes from f - C⁻¹ ∇ᵀy to f - C⁻¹
// ∇ᵀx. Consecutive edges of a list mostly share a vertex, so each would wait for the previous one.
// The sweep therefore interleaves several stretches of the list.
template <bool has_vertex_weights>
bool EdgeDescent::sweep(Watch& watch, double& uphill) {
    const double beta = momentum_.beta();
    double sum = 0.0;
    const auto move = [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const double a = has_vertex_weights ? inverse_[i] : 1.0;
        const double b = has_vertex_weights ? inverse_[j] : 1.0;
        const double w = weights_[e], y = y_[e], difference = r_[i] - r_[j];
        const double step = has_vertex_weights ? difference / (a + b) : 0.5 * difference;
        const double x = std::min(std::max(y + step, -w), w);
        const double change = x - x_[e];
        r_[i] -= a * (x - y);
        r_[j] += b * (x - y);
        sum += (y - x) * change;
        y_[e] = x + beta * change;
        x_[e] = x;
    };
    constexpr std::size_t n_stretches = 4;
    const std::size_t length = x_.size() / n_stretches;
    const bool finished = for_watched(
        length, [&] { return watch.expired(); },
        [&](std::size_t k) {
            for (std::size_t s = 0; s < n_stretches; ++s) move(s * length + k);
        });
    if (!finished || watch.expired()) return false;
    for (std::size_t e = n_stretches * length; e < x_.size(); ++e) move(e);
    uphill = sum;
    return true;
}

template <class Put>
void EdgeDescent::for_each_dual(int n_threads, const Put& put) const {
    for_shards(x_.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t e = first; e < last; ++e)
            put(e, weights_[e] > 0.0 ? std::clamp(x_[e] / weights_[e], -1.0, 1.0) : 0.0);
    });
}

void EdgeDescent::dual(std::span<double> p, int n_threads) const {
    for_each_dual(n_threads, [=](std::size_t e, double value) { p[e] = value; });
}
void EdgeDescent::rounded_dual(std::span<Rounded> p, int n_threads) const {
    for_each_dual(n_threads, [=](std::size_t e, double value) { p[e] = rounded(value); });
}

}  // namespace graphtv

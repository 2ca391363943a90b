#include "solver/descent/coupled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Weights and their inverses beyond this, in units of the range of the data, have no effect. Its
// square is finite.
template <class Real>
constexpr double largest = sizeof(Real) == sizeof(float) ? 1e15 : 1e100;

// Iterations after which the rounding errors of u and r may matter.
template <class Real>
constexpr int longest_drift = sizeof(Real) == sizeof(float) ? 16 : 1024;

}  // namespace

template <class Real>
CoupledDescent<Real>::CoupledDescent(const EdgeList& graph, std::span<const double> weights,
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
            g_[i * width_ + c] = static_cast<Real>((signal[c * n + i] - means_[c]) / range_);
    });
    for_watched(weights.size(), [&](std::size_t e) {
        const double w = weights[e] / range_;
        capacity_[e] = static_cast<Real>(std::min(std::max(w, 1.0 / largest<Real>), largest<Real>));
        total_capacity_ += static_cast<double>(capacity_[e]);
    });
    for (std::size_t i = 0; i < inverse_.size(); ++i)
        inverse_[i] = static_cast<Real>(
            std::min(std::max(1.0 / vertex_weights[i], 1.0 / largest<Real>), largest<Real>));
    for (auto* flow : {&x_, &y_}) {
        Watched::look();
        flow->resize(weights.size() * width_);
    }
    u_ = g_;
    r_ = g_;
}

template <class Real>
CoupledEdges<Real> CoupledDescent<Real>::edges() {
    return {graph_.edges.data(),
            capacity_.data(),
            inverse_.empty() ? nullptr : inverse_.data(),
            x_.data(),
            y_.data(),
            r_.data(),
            capacity_.size(),
            width_};
}

template <class Real>
void CoupledDescent<Real>::start_from(std::span<const double> p) {
    const std::size_t m = capacity_.size();
    for_watched(m, [&](std::size_t e) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            x_[e * width_ + c] = capacity_[e] * static_cast<Real>(p[c * m + e]);
    });
    restart();
}

// out = g - C⁻¹∇ᵀflow.
template <class Real>
void CoupledDescent<Real>::apply(const Values& flow, Values& out) const {
    std::ranges::copy(g_, out.begin());
    for_watched(capacity_.size(), [&](std::size_t e) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const Real a = inverse_.empty() ? Real(1) : inverse_[i];
        const Real b = inverse_.empty() ? Real(1) : inverse_[j];
        for (std::size_t c = 0; c < width_; ++c) {
            out[i * width_ + c] -= a * flow[e * width_ + c];
            out[j * width_ + c] += b * flow[e * width_ + c];
        }
    });
    Watched::look();
}

// Computes u from x and resets the momentum.
template <class Real>
void CoupledDescent<Real>::restart() {
    apply(x_, u_);
    forget_momentum();
    momentum_.start();
    drift_ = 0;
    is_torn_ = false;
}

template <class Real>
void CoupledDescent<Real>::settle() {
    if (is_torn_) {
        restart();
    } else if (drift_ >= longest_drift<Real>) {
        is_torn_ = true;  // if the watch expires here
        apply(x_, u_);
        apply(y_, r_);
        drift_ = 0;
        is_torn_ = false;
    }
}

template <class Real>
void CoupledDescent<Real>::forget_momentum() {
    std::ranges::copy(u_, r_.begin());
    std::ranges::copy(x_, y_.begin());
    mean_.forget();
}

template <class Real>
int CoupledDescent<Real>::step(Watch& watch, int, int) {
    settle();
    momentum_.advance();
    double uphill = 0.0;
    if (!sweep(watch, uphill)) {
        is_torn_ = true;
        return 0;
    }
    const auto beta = static_cast<Real>(momentum_.beta());
    const double energy = extrapolate(edges(), u_.data(), at(graph_.n_vertices), beta);
    ++drift_;
    mean_.take(u_);
    if (momentum_.restarts(uphill, energy)) forget_momentum();
    return 1;
}

// Updates x from y edge by edge, together with the next y. r changes from g - C⁻¹∇ᵀy to g - C⁻¹∇ᵀx.
template <class Real>
bool CoupledDescent<Real>::sweep(Watch& watch, double& uphill) {
    const auto beta = static_cast<Real>(momentum_.beta());
    const auto all = edges();
    const std::size_t length = all.n_edges / n_stretches;
    for (std::size_t k = 0; k < length && !watch.expired(); k += between_looks)
        uphill += move(all, k, std::min(k + between_looks, length), beta);
    if (watch.expired()) return false;
    uphill += move_rest(all, beta);
    return true;
}

template <class Real>
void CoupledDescent<Real>::u(std::span<double> out) {
    settle();
    const std::size_t n = at(graph_.n_vertices);
    const Real* from = mean_.point().empty() ? u_.data() : mean_.point().data();
    for (std::size_t c = 0; c < n_channels_; ++c)
        for_watched(n, [&](std::size_t i) {
            out[c * n + i] = range_ * static_cast<double>(from[i * width_ + c]) + means_[c];
        });
}

template <class Real>
void CoupledDescent<Real>::dual(std::span<double> p, int n_threads) const {
    const std::size_t m = capacity_.size();
    for_shards(m, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t c = 0; c < n_channels_; ++c)
            for (std::size_t e = first; e < last; ++e)
                p[c * m + e] = static_cast<double>(x_[e * width_ + c] / capacity_[e]);
    });
}

// In units of the range.
template <class Real>
double CoupledDescent<Real>::objective(const Values& u) {
    const double fidelity = quick_sum_of(at(graph_.n_vertices), 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * width_; k < (i + 1) * width_; ++k) {
            const auto d = static_cast<double>(u[k] - g_[k]);
            squares += d * d;
        }
        return 0.5 * squares * weight(i);
    });
    double sum = 0.0;
    for_blocks([&](std::size_t first, std::size_t last) {
        sum += variation(edges(), u.data(), first, last);
    });
    return fidelity + sum;
}

// Calls body(first, last) for blocks of edges, and checks the watch before each.
template <class Real>
template <class Body>
void CoupledDescent<Real>::for_blocks(const Body& body) const {
    for (std::size_t first = 0; first < capacity_.size(); first += between_looks) {
        Watched::look();
        body(first, std::min(first + between_looks, capacity_.size()));
    }
}

// One step of lagged diffusion.
template <class Real>
void CoupledDescent<Real>::diffuse(Values& u, Real width) {
    const std::size_t n = at(graph_.n_vertices);
    Values numerators(g_.size()), conductances(n);
    for_blocks([&](std::size_t first, std::size_t last) {
        graphtv::diffuse(edges(), u.data(), width, first, last, numerators.data(),
                         conductances.data());
    });
    for (std::size_t i = 0; i < n; ++i) {
        const Real a = static_cast<Real>(weight(i)), per = Real(1) / (a + conductances[i]);
        for (std::size_t k = i * width_; k < (i + 1) * width_; ++k)
            u[k] = (a * g_[k] + numerators[k]) * per;
    }
}

template <class Real>
double CoupledDescent<Real>::primal_value() {
    settle();
    if (mean_.is_empty()) return range_ * range_ * objective(u_);
    const double dual = dual_value() / (range_ * range_);
    return range_ * range_ *
           mean_.value(
               dual, total_capacity_, [&](Values& u) { return objective(u); },
               [&](Values& u, Real width) { diffuse(u, width); });
}

// Flows do not change the weighted total of u, so g² - u² may be computed about any centre.
template <class Real>
double CoupledDescent<Real>::dual_value() {
    settle();
    const double sum = quick_sum_of(at(graph_.n_vertices), 1, [&](std::size_t i) {
        double squares = 0.0;
        for (std::size_t k = i * width_; k < (i + 1) * width_; ++k) {
            const auto g = static_cast<double>(g_[k]), u = static_cast<double>(u_[k]);
            squares += (g - u) * (g + u);
        }
        return 0.5 * squares * weight(i);
    });
    return range_ * range_ * sum;
}

template class CoupledDescent<float>;
template class CoupledDescent<double>;

}  // namespace graphtv

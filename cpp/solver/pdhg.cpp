#include "solver/pdhg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "terms/sum.hpp"

namespace graphtv {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Balanced scheme. Measured on grids, kNN and random graphs: between 1.5 and 1.75 is flat, 1.9 is
// worse; Algorithm 2 is ahead for about thirty iterations.
constexpr double relaxation = 1.6;
constexpr long long accelerated_iterations = 30;

// Restarted scheme: a fall of the residual that is enough, one that is enough if it rises again, and
// the longest epoch as a share of all iterations.
constexpr double sufficient_fall = 0.2, necessary_fall = 0.8, longest_epoch = 0.36;

// A weight never changes by more than this at once, halfway to where it ought to be.
constexpr double largest_change = 4.0;

// Every fifth iteration at first, then geometrically rarer: infinitely many changes at a constant
// pace could keep the iteration from converging.
long long next_change(long long iteration) {
    return iteration < 50 ? iteration + 5 : iteration + iteration / 5;
}

double penalty(double x, double delta) {
    const double size = std::abs(x);
    return size < delta ? 0.5 * size * size / delta : size - 0.5 * delta;
}

}  // namespace

Pdhg::Pdhg(const EdgeList& graph, std::span<const double> weights, const DataTerm& data,
           double delta, std::unique_ptr<DualVariable> dual, const PdhgOptions& options)
    : graph_(graph),
      weights_(weights),
      data_(data),
      delta_(delta),
      dual_(std::move(dual)),
      options_(options),
      gamma_(options.gamma),
      next_balance_(next_change(0)),
      metric_(dual_->primal_metric().begin(), dual_->primal_metric().end()) {
    const auto size = data.n_vertices() * data.n_channels();
    for (auto* values : {&point_, &point_divergence_, &arrival_, &ubar_}) values->resize(size);
    if (options.memory().anchor)
        for (auto* values : {&anchor_, &anchor_divergence_}) values->resize(size);
    steps_.resize(metric_.empty() ? 1 : metric_.size());
    if (!metric_.empty()) gamma_ /= *std::max_element(metric_.begin(), metric_.end());

    const double N = dual_->squared_operator_norm();
    s_ = options.primal_step > 0.0   ? options.primal_step
         : options.dual_step > 0.0 ? N / options.dual_step
                                     : options.primal_weight * std::sqrt(N);
    t_ = options.dual_step > 0.0 ? options.dual_step : N / s_;
    norm_ = std::sqrt(s_ * t_);
    weight_ = std::sqrt(s_ / t_);

    // The minimiser of G: a proximal step of next to infinite length.
    std::fill(steps_.begin(), steps_.end(), 1e300);
    data_.prox(arrival_, steps_, arrival_, options_.n_threads);
    begin_epoch();
}

void Pdhg::start(std::span<const double> u, std::span<const double> p) {
    std::copy(u.begin(), u.end(), arrival_.begin());
    dual_->set(p, options_.n_threads);
    begin_epoch();
}

// From (û, p̂), which becomes the anchor.
void Pdhg::begin_epoch() {
    blend_ = {};
    epoch_length_ = 0;
    last_residual_ = std::numeric_limits<double>::infinity();
    if (anchor_.empty()) return;
    std::copy(arrival_.begin(), arrival_.end(), anchor_.begin());
    const auto divergence = dual_->divergence();
    std::copy(divergence.begin(), divergence.end(), anchor_divergence_.begin());
    dual_->anchor(options_.n_threads);
}

Pdhg::Step Pdhg::step(Watch& watch) {
    if (watch.expired()) return {s_, t_, false, false};
    ++iteration_;
    const double s = s_;
    move_primal();
    double theta = 1.0;
    const bool accelerates =
        options_.scheme == Scheme::accelerated ||
        (options_.scheme == Scheme::balanced && iteration_ <= accelerated_iterations);
    if (accelerates && gamma_ > 0.0) {
        theta = 1.0 / std::sqrt(1.0 + 2.0 * gamma_ / s_);
        s_ /= theta;
        t_ *= theta;
        weight_ /= theta;
    }
    const double squared_primal = extrapolate(theta);
    const auto [completed, squared_dual] =
        dual_->step(ubar_, t_, blend_, options_.n_threads, watch);
    if (!completed) {
        begin_epoch();
        return {s_, t_, false, false};
    }
    ++epoch_length_;
    const Step done{s, t_, false, true};
    if (options_.scheme == Scheme::balanced) {
        blend_ = accelerates && gamma_ > 0.0 ? Blend{} : Blend{1.0 - relaxation, relaxation, 0.0};
        if (iteration_ >= next_balance_) {
            next_balance_ = next_change(iteration_);
            if (!accelerates || gamma_ == 0.0) balance(squared_primal, squared_dual);
        }
    } else if (options_.scheme == Scheme::restarted) {
        if (has_fallen(residual(squared_primal, squared_dual))) {
            restart();
            return {s, t_, true, true};
        }
        const auto k = static_cast<double>(epoch_length_), a = k / (k + 1.0);
        blend_ = {-a, 2.0 * a, 1.0 - a};
    }
    return done;
}

// û from a blend of the last point, the last arrival and the anchor.
void Pdhg::move_primal() {
    const auto n = data_.n_vertices();
    for (std::size_t i = 0; i < steps_.size(); ++i)
        steps_[i] = 1.0 / (metric_.empty() ? s_ : s_ * metric_[i]);
    const auto divergence = dual_->divergence();
    const bool has_anchor = !anchor_.empty(), is_scaled = !metric_.empty();
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        for_shards(n, options_.n_threads, [&](std::size_t first, std::size_t last) {
            for (auto v = first; v < last; ++v) {
                const auto i = c * n + v;
                point_[i] = blend_(point_[i], arrival_[i], has_anchor ? anchor_[i] : 0.0);
                point_divergence_[i] = blend_(point_divergence_[i], divergence[i],
                                              has_anchor ? anchor_divergence_[i] : 0.0);
                arrival_[i] = point_[i] - point_divergence_[i] * steps_[is_scaled ? v : 0];
            }
        });
    data_.prox(arrival_, steps_, arrival_, options_.n_threads);
}

// ū = û + θ(û - u), and ‖û - u‖_S².
double Pdhg::extrapolate(double theta) {
    const auto n = data_.n_vertices();
    double squared = 0.0;
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        squared += quick_sum_of(n, options_.n_threads, [&](std::size_t v) {
            const auto i = c * n + v;
            const double moved = arrival_[i] - point_[i];
            ubar_[i] = arrival_[i] + theta * moved;
            return moved * moved * (metric_.empty() ? 1.0 : metric_[v]);
        });
    return squared;
}

// The distance that one step covers, in the norm in which steps are averaged operators:
// s‖Δu‖_S² - 2⟨KΔu, Δp⟩ + t‖Δp‖_T².
double Pdhg::residual(double squared_primal, double squared_dual) {
    const auto n = data_.n_vertices();
    const auto divergence = dual_->divergence();
    double product = 0.0;
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        product += quick_sum_of(n, options_.n_threads, [&](std::size_t v) {
            const auto i = c * n + v;
            return (arrival_[i] - point_[i]) * (divergence[i] - point_divergence_[i]);
        });
    return std::sqrt(std::max(0.0, s_ * squared_primal - 2.0 * product + t_ * squared_dual));
}

bool Pdhg::has_fallen(double residual) {
    if (epoch_length_ == 1) first_residual_ = residual;
    const bool falls = residual <= sufficient_fall * first_residual_ ||
                       (residual <= necessary_fall * first_residual_ && residual > last_residual_);
    const bool is_long = static_cast<double>(epoch_length_) >=
                         longest_epoch * static_cast<double>(iteration_);
    last_residual_ = residual;
    return epoch_length_ > 1 && (falls || is_long);
}

// Balances the weight by how far the epoch has gone, and begins the next.
void Pdhg::restart() {
    const auto n = data_.n_vertices();
    double squared_primal = 0.0;
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        squared_primal += quick_sum_of(n, options_.n_threads, [&](std::size_t v) {
            const double moved = arrival_[c * n + v] - anchor_[c * n + v];
            return moved * moved * (metric_.empty() ? 1.0 : metric_[v]);
        });
    balance(squared_primal, dual_->anchor(options_.n_threads));
    begin_epoch();
}

void Pdhg::balance(double squared_primal, double squared_dual) {
    double target = weight_;
    if (squared_primal > 0.0 && squared_dual > 0.0) {
        target = std::sqrt(squared_dual / squared_primal);
    } else if (squared_primal > 0.0 || squared_dual > 0.0) {
        target = squared_dual > 0.0 ? weight_ * largest_change : weight_ / largest_change;
    }
    weight_ = std::sqrt(weight_ * std::clamp(target, weight_ / largest_change,
                                             weight_ * largest_change));
    s_ = norm_ * weight_;
    t_ = norm_ / weight_;
}

Pdhg::Objectives Pdhg::evaluate() {
    const auto n = data_.n_vertices(), m = weights_.size();
    CompensatedSum variation;
    for (std::size_t c = 0; c < data_.n_channels(); ++c) {
        const double* u = arrival_.data() + c * n;
        variation.add(sum_of(m, options_.n_threads, [&](std::size_t e) {
            const auto [tail, head] = graph_.edges[e];
            return penalty(weights_[e] * (u[at(tail)] - u[at(head)]), delta_);
        }));
    }
    // ū is free until the next step.
    const auto divergence = dual_->divergence();
    std::transform(divergence.begin(), divergence.end(), ubar_.begin(), std::negate<>());
    double dual = -data_.conjugate(ubar_, options_.n_threads);
    if (delta_ > 0.0) dual -= 0.5 * delta_ * dual_->squared_norm(options_.n_threads);
    return {data_.value(arrival_, options_.n_threads) + variation.value(), dual};
}

}  // namespace graphtv

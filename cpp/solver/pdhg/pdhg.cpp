#include "solver/pdhg/pdhg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "terms/elementary.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Balanced scheme, measured on grids, kNN and random graphs: 1.6 is better than 1.4 and 1.8.
// Starting with Algorithm 2 gains 5-10 % on grids at low accuracy and loses 4 % on average.
constexpr double relaxation = 1.6;

// Automatic scheme: the residual is checked each time the number of iterations has doubled. The
// balanced scheme continues while each check finds at most this fraction of the previous residual.
// Where it does, it typically needs a third fewer iterations than restarts. Where it does not, it
// may need a hundred times as many. Measured on 40 problems (benchmarks/solver/schemes.py): 0.4 is
// better than 0.6 and 0.8, and 100 than 50.
constexpr long long first_check = 100;
constexpr double steady_fall = 0.4;

// The relative gap up to which restarts continue from the point of the balanced scheme.
constexpr double worth_keeping = 1e-3;

// Restarted scheme: the decrease of the residual that triggers a restart, the decrease that
// triggers one when the residual rises again, and the longest epoch as a fraction of all
// iterations.
constexpr double sufficient_fall = 0.1, necessary_fall = 0.9, longest_epoch = 0.2;

// The fraction of the way (in logarithms) that a weight moves towards its target, and the largest
// factor of a change. A single step is a less reliable estimate than an epoch, so its changes are
// limited.
constexpr double share_by_step = 1.0, largest_change_by_step = 4.0;
constexpr double share_by_epoch = 0.7, largest_change_by_epoch = 1e6;

// Epochs shorter than this fraction of all iterations change the weight less. If the steps of u are
// too short, u hardly moves, which asks for even shorter ones. Without this, a few epochs of two
// iterations each could move the weight by many orders of magnitude.
constexpr double whole_epoch = 0.05;

// The factor by which the weight changes if only one of the two points moves. A point counts as
// moving if it moves by more than this many rounding errors.
constexpr double change_alone = 4.0, roundings = 10.0;

// The number of values of u in the sample for the range.
constexpr std::size_t size_of_sample = 100'000;

// Balancing would take too long to get from the unit to a weight beyond this multiple of it.
constexpr double far_weight = 1e8;

// At the optimum, steps are rounding errors. This limits how far they can move the weight.
constexpr double largest_weight = 1e12;

// Changes are frequent at first, then geometrically rarer: infinitely many changes at a constant
// rate could prevent convergence.
long long next_change(long long iteration) {
    return iteration + (iteration < 30 ? 3 : iteration < 60 ? 6 : iteration / 5);
}

// √(xy) and √(x/y). The roots of x and y are taken separately only if the product or quotient
// overflows or underflows. If the unit of a number is an odd power of two, its root would be
// rounded differently after a scaling of the data.
double root_of_product(double x, double y) {
    const double product = x * y;
    return std::isnormal(product) ? std::sqrt(product) : std::sqrt(x) * std::sqrt(y);
}
double root_of_quotient(double x, double y) {
    const double quotient = x / y;
    return std::isnormal(quotient) ? std::sqrt(quotient) : std::sqrt(x) / std::sqrt(y);
}

// The approximate cost of building forests, which cannot be interrupted.
constexpr double seconds_per_edge = 2e-6;

// Forests must not change too often either, nor before the active set has stabilised.
long long next_forests(long long iteration) { return iteration + iteration / 2 + 30; }

}  // namespace

Pdhg::Pdhg(const EdgeList& graph, std::span<const double> weights, const DataTerm& data,
           const Penalty& penalty, std::unique_ptr<DualVariable> dual, const PdhgOptions& options)
    : graph_(graph),
      weights_(weights),
      data_(data),
      penalty_(penalty),
      dual_(std::move(dual)),
      options_(options),
      scheme_(options.scheme == Scheme::automatic ? Scheme::balanced : options.scheme),
      gamma_(options.gamma),
      next_balance_(next_change(0)),
      next_check_(first_check),
      next_recondition_(next_forests(0)),
      metric_(dual_->primal_metric().begin(), dual_->primal_metric().end()) {
    const auto size = data.n_vertices() * data.n_channels();
    for (auto* values : {&point_, &point_divergence_, &arrival_, &ubar_}) {
        Watched::look();
        values->resize(size);
    }
    if (options.memory().anchor)
        for (auto* values : {&anchor_, &anchor_divergence_}) values->resize(size);
    steps_.resize(metric_.empty() ? 1 : metric_.size());
    if (!metric_.empty()) gamma_ /= *std::max_element(metric_.begin(), metric_.end());

    minimise_data_term();
    const double N = dual_->squared_operator_norm();
    natural_ = natural_weight();
    const double weight = first_weight();
    s_ = options.primal_step > 0.0 ? options.primal_step
         : options.dual_step > 0.0 ? N / options.dual_step
                                   : weight * std::sqrt(N);
    t_ = options.dual_step > 0.0 ? options.dual_step : N / s_;
    norm_ = root_of_product(s_, t_);
    weight_ = root_of_quotient(s_, t_);

    if (options.reconditions)
        reconditioning_.emplace(graph, weights, penalty.by_edge().value(), data.n_channels());

    begin_epoch();
}

// Sets û to the minimiser of G: a proximal step of nearly infinite length.
void Pdhg::minimise_data_term() {
    std::fill(arrival_.begin(), arrival_.end(), 0.0);
    std::fill(steps_.begin(), steps_.end(), 1e300);
    data_.prox(arrival_, steps_, arrival_, options_.n_threads);
}

// The paper's weight is 1, here in a unit of the data. For strongly convex G, balancing finds the
// weight from there unless it is very far away.
double Pdhg::first_weight() const {
    if (options_.primal_weight > 0.0) return options_.primal_weight;
    const double distance = natural_ / options_.unit_weight;
    const bool is_far = distance > far_weight || distance < 1.0 / far_weight;
    const bool is_natural = scheme_ == Scheme::restarted || (scheme_ == Scheme::balanced && is_far);
    return is_natural ? natural_ : options_.unit_weight;
}

// A weight that respects the units of the data: s has the unit of ω / (range of u), and need not be
// smaller than the curvature.
double Pdhg::natural_weight() const {
    const double length = length_of_range();
    if (!(length > 0.0 && std::isfinite(length))) return options_.unit_weight;
    const auto mean = [](std::span<const double> values) {
        double sum = 0.0;
        for (const double value : values) sum += value / static_cast<double>(values.size());
        return sum;
    };
    const double S = metric_.empty() ? 1.0 : mean(metric_);
    const double s = std::max(mean(weights_) / length / S, gamma_);
    const double weight = s / std::sqrt(dual_->squared_operator_norm());
    const bool has_square = std::isnormal(weight * weight) && std::isnormal(1.0 / weight / weight);
    return has_square ? weight : options_.unit_weight;
}

// Twice the mean distance of the starting u from its median, which is the distance of two values that
// are equally frequent. If u is constant, the length of the domain. Quantiles would fail on an image
// that is constant up to rounding except for a few objects.
double Pdhg::length_of_range() const {
    std::vector<double> sample;
    for (std::size_t i = 0; i < arrival_.size(); i += arrival_.size() / size_of_sample + 1)
        sample.push_back(arrival_[i]);
    if (sample.empty()) return 0.0;
    const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
    std::nth_element(sample.begin(), middle, sample.end());
    const double median = *middle;
    double distance = 0.0;
    for (const double value : sample)
        distance += std::abs(value - median) / static_cast<double>(sample.size());
    return distance > 0.0 ? 2.0 * distance : data_.domain().upper - data_.domain().lower;
}

void Pdhg::start(std::span<const double> u, std::span<const double> p) {
    std::copy(u.begin(), u.end(), arrival_.begin());
    dual_->set(p, options_.n_threads);
    begin_epoch();
    is_torn_ = false;
    is_warm_ = true;
}

void Pdhg::settle() {
    if (!is_torn_) return;
    dual_->settle(options_.n_threads);
    begin_epoch();
    is_torn_ = false;
}

// ‖x‖_S² for x_i = entry(i). Calls entry once per entry of u.
template <class Entry>
double Pdhg::squared_norm(const Entry& entry) const {
    const auto n = data_.n_vertices();
    double squared = 0.0;
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        squared += quick_sum_of(n, options_.n_threads, [&](std::size_t v) {
            const double x = entry(c * n + v);
            return x * x * (metric_.empty() ? 1.0 : metric_[v]);
        });
    return squared;
}

// Starts an epoch at (û, p̂), which becomes the anchor. Returns how far the anchor has moved.
Pdhg::Distances Pdhg::begin_epoch() {
    blend_ = {};
    epoch_length_ = 0;
    last_residual_ = std::numeric_limits<double>::infinity();
    if (anchor_.empty()) return {};
    const auto divergence = dual_->divergence();
    const double squared = squared_norm([&](std::size_t i) {
        const double moved = arrival_[i] - anchor_[i];
        anchor_[i] = arrival_[i];
        anchor_divergence_[i] = divergence[i];
        return moved;
    });
    return {squared, dual_->anchor(options_.n_threads)};
}

// Whether over-relaxed steps have become much shorter since the iterations were half as many, or are
// as short as rounding allows.
bool Pdhg::is_steady(const Distances& moved) {
    if (iteration_ < next_check_) return true;
    next_check_ *= 2;
    const double before = std::exchange(checked_residual_, squared_residual(moved));
    const Distances noise = rounding();
    const bool has_arrived =
        moved.squared_primal <= noise.squared_primal && moved.squared_dual <= noise.squared_dual;
    return has_arrived || checked_residual_ <= steady_fall * steady_fall * before;
}

// Switches to restarts with the natural weight, since balancing has not found a good one. Unless its
// gap is small, the point that it has found is no better: where condition numbers are large, it is
// much farther from the solution than the start is, and so would the anchor be. A start that was
// given is not stored, so the run continues from (û, p̂) there.
void Pdhg::begin_restarts() {
    const auto [primal, dual] = evaluate();
    const bool is_good =
        primal - dual <= worth_keeping * std::max(std::abs(primal), std::abs(dual));
    scheme_ = Scheme::restarted;
    if (!is_warm_ && !is_good) {
        minimise_data_term();
        dual_->set(std::vector<double>(weights_.size() * data_.n_channels()), options_.n_threads);
    }
    for (auto* values : {&anchor_, &anchor_divergence_}) values->resize(arrival_.size());
    dual_->take_anchor();
    take_weight(natural_);
    begin_epoch();
}

Pdhg::Step Pdhg::step(Watch& watch) {
    settle();
    try {
        const Watched here(&watch);
        Watched::look();
        const Step done = advance(watch);
        is_torn_ = !done.completed;
        return done;
    } catch (const Expired&) {
        is_torn_ = true;
        return {s_, t_, false, false};
    }
}

Pdhg::Step Pdhg::advance(Watch& watch) {
    ++iteration_;
    const bool begins_anew = std::exchange(begins_anew_, false);
    if (begins_anew) begin_restarts();
    const double s = s_;
    move_primal();
    double theta = 1.0;
    if (scheme_ == Scheme::accelerated) {
        theta = 1.0 / std::sqrt(1.0 + 2.0 * gamma_ / s_);
        s_ /= theta;
        t_ *= theta;
    }
    Distances moved{extrapolate(theta), 0.0};
    const auto movement = dual_->step(ubar_, t_, blend_, options_.n_threads, watch);
    moved.squared_dual = movement.squared;
    if (!movement.completed) return {s_, t_, false, false};
    ++epoch_length_;
    Step done{s, t_, begins_anew, true};
    if (scheme_ == Scheme::balanced) {
        blend_ = {1.0 - relaxation, relaxation, 0.0};
        if (iteration_ >= next_balance_) {
            next_balance_ = next_change(iteration_);
            balance(moved, share_by_step, largest_change_by_step);
        }
        // The next step begins anew. Until then (û, p̂) is the better point.
        if (options_.scheme == Scheme::automatic) begins_anew_ = !is_steady(moved);
    } else if (scheme_ == Scheme::restarted) {
        if (has_fallen(squared_residual(moved))) {
            balance_by_epoch();
            done.restarted = true;
        } else {
            const auto k = static_cast<double>(epoch_length_), a = k / (k + 1.0);
            blend_ = {-a, 2.0 * a, 1.0 - a};
        }
    }
    const bool is_whole = scheme_ != Scheme::restarted || done.restarted;
    if (reconditioning_ && iteration_ >= next_recondition_ && is_whole)
        done.restarted |= recondition(watch);
    return done;
}

// Rebuilds the forests for the active set. Continues from (û, p̂) with the same weight.
bool Pdhg::recondition(const Watch& watch) {
    next_recondition_ = next_forests(iteration_);
    const auto size = static_cast<double>(weights_.size());
    if (watch.remaining() < 3.0 * seconds_per_edge * size) return false;
    auto better =
        (*reconditioning_)(*dual_, {true, scheme_ == Scheme::restarted}, options_.n_threads);
    if (!better) return false;
    earlier_sweeps_ += dual_->n_sweeps();
    norm_ *= std::sqrt(better->squared_operator_norm() / dual_->squared_operator_norm());
    dual_ = std::move(better);
    take_weight(weight_);
    begin_epoch();
    return true;
}

// Computes û from a blend of the last starting point, the last arrival and the anchor. The blend is
// stored in ū, which is not in use at this point, so that the last û survives if the watch ends the
// step.
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
                ubar_[i] = point_[i] - point_divergence_[i] * steps_[is_scaled ? v : 0];
            }
        });
    data_.prox_near(arrival_, ubar_, steps_, ubar_, options_.n_threads);
    arrival_.swap(ubar_);
}

// ū = û + θ(û - u), and ‖û - u‖_S².
double Pdhg::extrapolate(double theta) {
    return squared_norm([&](std::size_t i) {
        const double moved = arrival_[i] - point_[i];
        ubar_[i] = arrival_[i] + theta * moved;
        return moved;
    });
}

// The squared length of one step in the norm in which steps are averaged operators:
// s‖Δu‖_S² - 2⟨KΔu, Δp⟩ + t‖Δp‖_T².
double Pdhg::squared_residual(const Distances& moved) {
    const auto n = data_.n_vertices();
    const auto divergence = dual_->divergence();
    double product = 0.0;
    for (std::size_t c = 0; c < data_.n_channels(); ++c)
        product += quick_sum_of(n, options_.n_threads, [&](std::size_t v) {
            const auto i = c * n + v;
            return (arrival_[i] - point_[i]) * (divergence[i] - point_divergence_[i]);
        });
    return std::max(0.0, s_ * moved.squared_primal - 2.0 * product + t_ * moved.squared_dual);
}

bool Pdhg::has_fallen(double residual) {
    if (epoch_length_ == 1) first_residual_ = residual;
    const auto is_below = [&](double fall) { return residual <= fall * fall * first_residual_; };
    const bool falls =
        is_below(sufficient_fall) || (is_below(necessary_fall) && residual > last_residual_);
    const bool is_long =
        static_cast<double>(epoch_length_) >= longest_epoch * static_cast<double>(iteration_);
    last_residual_ = residual;
    return epoch_length_ > 1 && (falls || is_long);
}

// Begins an epoch, and balances by how far the anchor has moved.
void Pdhg::balance_by_epoch() {
    const double whole = whole_epoch * static_cast<double>(iteration_);
    const double part = std::min(1.0, static_cast<double>(epoch_length_) / whole);
    balance(begin_epoch(), share_by_epoch * part, largest_change_by_epoch);
}

// If only one of the two points moves by more than its rounding error, the weight lengthens its
// steps and shortens those of the other. If neither moves, the weight returns to the natural one,
// which preserves the digits of both.
void Pdhg::balance(const Distances& moved, double share, double largest_change) {
    const Distances noise = rounding();
    const bool moves_primal = moved.squared_primal > noise.squared_primal;
    const bool moves_dual = moved.squared_dual > noise.squared_dual;
    if (moves_primal && moves_dual) {
        const double change = root_of_quotient(moved.squared_dual, moved.squared_primal) / weight_;
        weight_ *=
            elementary::power(std::clamp(change, 1.0 / largest_change, largest_change), share);
    } else if (moves_primal || moves_dual) {
        weight_ *= elementary::power(moves_dual ? change_alone : 1.0 / change_alone, share);
    } else {
        weight_ = root_of_product(weight_, natural_);
    }
    take_weight(std::clamp(weight_, natural_ / largest_weight, natural_ * largest_weight));
}

void Pdhg::take_weight(double weight) {
    weight_ = weight;
    s_ = norm_ * weight_;
    t_ = norm_ / weight_;
}

// The rounding error of both halves of a step: that of the point, and that of the update, which is
// ‖S^-½ Kᵀp‖/s ≤ √N ‖p‖_T/s for u and ‖T^-½ Ku‖/t ≤ √N ‖u‖_S/t for p.
Pdhg::Distances Pdhg::rounding() const {
    constexpr double share = roundings * std::numeric_limits<double>::epsilon();
    const double primal = squared_norm([&](std::size_t i) { return share * arrival_[i]; });
    const double dual = share * share * dual_->squared_length(options_.n_threads);
    const auto square = [](double x) { return x * x; };
    return {primal + square(norm_ / s_) * dual, dual + square(norm_ / t_) * primal};
}

Pdhg::Objectives Pdhg::evaluate() {
    settle();
    const double penalty = penalty_.value(graph_, weights_, arrival_, options_.n_threads);
    // ū is not in use until the next step.
    const auto divergence = dual_->divergence();
    std::transform(divergence.begin(), divergence.end(), ubar_.begin(), std::negate<>());
    const double dual =
        -data_.conjugate(ubar_, options_.n_threads) - dual_->conjugate(options_.n_threads);
    return {data_.value(arrival_, options_.n_threads) + penalty, dual};
}

}  // namespace graphtv

#include "terms/entropic_simplex.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "terms/divergence.hpp"
#include "terms/elementary.hpp"
#include "terms/entrywise.hpp"
#include "terms/simplex_prox.hpp"

namespace graphtv {

// Beyond τε = 1e100 the distance is negligible compared with the entropy, and beyond τ max|ρ| =
// 1e290 compared with the cost. Longer steps end in the same point, but τρ would overflow.
EntropicSimplexTerm::EntropicSimplexTerm(TermShape shape, std::span<const double> cost,
                                         double epsilon)
    : DataTerm(shape), cost_(cost), epsilon_(epsilon), longest_step_(1e100 / epsilon) {
    double largest = 0.0;
    for (const double x : cost) largest = std::max(largest, std::abs(x));
    if (largest > 0.0) longest_step_ = std::min(longest_step_, 1e290 / largest);
}

double EntropicSimplexTerm::value(std::span<const double> u, int n_threads) const {
    const double infinite = std::numeric_limits<double>::infinity();
    const std::size_t n = n_vertices();
    const double outside = sum_of(n, n_threads, [&](std::size_t i) {
                               double total = 0.0;
                               bool negative = false;
                               for (std::size_t c = 0; c < n_channels(); ++c) {
                                   const double x = u[c * n + i];
                                   negative = negative || !(x >= 0.0);
                                   total += x;
                               }
                               return negative || std::abs(total - 1.0) > sum_tolerance ? 1.0 : 0.0;
                           }).value();
    if (outside > 0.0) return infinite;
    return sum_of_rows(u.size(), n_threads,
                       [&](std::size_t i, std::span<double> terms) {
                           // Where u = 0, u log u is 0 for any value of the logarithm.
                           for (std::size_t k = 0; k < terms.size(); ++k)
                               terms[k] = std::max(u[i + k], std::numeric_limits<double>::min());
                           for (std::size_t k = 0; k < terms.size(); ++k)
                               terms[k] =
                                   u[i + k] * (cost_[i + k] + epsilon_ * quick_log(terms[k]));
                       })
        .value();
}

double EntropicSimplexTerm::conjugate(std::span<const double> s, int n_threads) const {
    const std::size_t n = n_vertices();
    return sum_of_rows(n, n_threads,
                       [&](std::size_t i, std::span<double> terms) {
                           constexpr double nothing = -700.0;  // compared with exp(0)
                           std::array<double, longest_row> largest, power, total{};
                           largest.fill(-std::numeric_limits<double>::infinity());
                           for (std::size_t e = i; e < s.size(); e += n)
                               for (std::size_t k = 0; k < terms.size(); ++k)
                                   largest[k] = std::max(largest[k], s[e + k] - cost_[e + k]);
                           for (std::size_t e = i; e < s.size(); e += n) {
                               for (std::size_t k = 0; k < terms.size(); ++k)
                                   power[k] = std::max(
                                       (s[e + k] - cost_[e + k] - largest[k]) / epsilon_, nothing);
                               for (std::size_t k = 0; k < terms.size(); ++k)
                                   total[k] += quick_exp(power[k]);
                           }
                           for (std::size_t k = 0; k < terms.size(); ++k)
                               terms[k] = largest[k] + epsilon_ * quick_log(total[k]);
                       })
        .value();
}

// With π the softmax of (s - ρ)/ε and L = ε log Σ exp((s - ρ)/ε), a vertex has the excess
//
//     ε Σ_c π_c ((1 + x_c) log(1 + x_c) - x_c) + η (ε - L),    x_c = u_c/π_c - 1,
//
// where η = Σ u - 1 is a rounding error. The derivative of the excess in s_c is π_c - u_c.
Tally EntropicSimplexTerm::tally(std::span<const double> u, std::span<const double> s,
                                 const Errors& errors, int n_threads) const {
    const std::size_t n = n_vertices(), n_classes = n_channels();
    const auto fill = [&](std::size_t first, std::size_t length, TallyRow& row) {
        constexpr double nothing = -700.0;  // negligible compared with exp(0)
        using Numbers = TallyRow::Numbers;
        std::vector<Numbers> powers(n_classes);
        Numbers top, sum{}, over, worst{}, largest, s_error{};
        Numbers &excess = row.excess, &size = row.rounding, &first_order = row.excess_rounding;
        top.fill(-std::numeric_limits<double>::infinity());
        over.fill(-1.0);
        excess.fill(0.0);
        size.fill(0.0);
        first_order.fill(0.0);
        for (std::size_t e = first; e < u.size(); e += n)
            for (std::size_t k = 0; k < length; ++k)
                top[k] = std::max(top[k], s[e + k] - cost_[e + k]);
        for (std::size_t c = 0, e = first; c < n_classes; ++c, e += n)
            for (std::size_t k = 0; k < length; ++k) {
                const double height = (s[e + k] - cost_[e + k] - top[k]) / epsilon_;
                powers[c][k] = quick_exp(std::max(height, nothing));
                sum[k] += powers[c][k];
            }
        for (std::size_t c = 0, e = first; c < n_classes; ++c, e += n) {
            for (std::size_t k = 0; k < length; ++k) {
                const double share = powers[c][k] / sum[k], more = u[e + k] - share;
                const double t = s[e + k] - cost_[e + k], slack = errors[e + k];
                const double error =
                    (slack + 4.0 * unit_roundoff * (std::abs(t) + std::abs(top[k]))) / epsilon_ +
                    16.0 * unit_roundoff;
                over[k] += u[e + k];
                worst[k] = std::max(worst[k], error);
                first_order[k] += error * std::abs(more);
                s_error[k] = std::max(s_error[k], slack);
                size[k] += u[e + k] * std::abs(cost_[e + k]) + epsilon_;  // u |log u| < 1
            }
            for (std::size_t k = 0; k < length; ++k) {
                const double share = powers[c][k] / sum[k], x = (u[e + k] - share) / share;
                if (x < 1e6) {
                    excess[k] += share * entropy_divergence(x);
                } else {  // the share may be too small to divide by
                    const double height = (s[e + k] - cost_[e + k] - top[k]) / epsilon_;
                    const double log_share = height - quick_log(sum[k]);
                    excess[k] += u[e + k] * (elementary::log(u[e + k]) - log_share - 1.0) + share;
                }
            }
        }
        for (std::size_t k = 0; k < length; ++k) {
            const double log_sum = epsilon_ * quick_log(sum[k]);
            largest[k] = std::abs(top[k]) + log_sum + epsilon_;
            excess[k] = epsilon_ * excess[k] + over[k] * (epsilon_ - top[k] - log_sum);
        }
        const auto steps = static_cast<double>(2 * n_classes + 8);
        for (std::size_t k = 0; k < length; ++k) {
            row.value[k] = row.conjugate[k] = 0.0;
            row.rounding[k] = s_error[k] + 32.0 * unit_roundoff * (size[k] + largest[k]);
            row.excess_rounding[k] =
                epsilon_ * (first_order[k] + worst[k] * std::min(3.0 * worst[k], 1.0)) +
                formula_error * std::abs(excess[k]) +
                (steps * unit_roundoff + formula_error * std::abs(over[k])) * largest[k];
        }
    };
    Tally total = tally_of(n, n_threads, fill);
    const double primal = value(u, n_threads);
    total.value.add(primal);
    total.conjugate.add(conjugate(s, n_threads));
    if (!std::isfinite(primal)) total.excess = primal;
    return total;
}

void EntropicSimplexTerm::prox(std::span<const double> v, std::span<const double> steps,
                               std::span<double> out, int n_threads) const {
    prox_near({}, v, steps, out, n_threads);
}

void EntropicSimplexTerm::prox_near(std::span<const double> guess, std::span<const double> v,
                                    std::span<const double> steps, std::span<double> out,
                                    int n_threads) const {
    const Entries step(steps);
    const std::size_t n = n_vertices(), n_classes = n_channels();
    constexpr std::size_t width = SimplexGroup::width, vertices_per_look = 256;
    for_shards(n, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> d(n_classes), y(n_classes);
        SimplexGroup group(n_classes);
        for (std::size_t i = begin; i < end; i += width) {
            if ((i - begin) % vertices_per_look == 0) Watched::look();
            if (!guess.empty() && i + width <= end && solve_group(i, guess, v, step, group)) {
                for (std::size_t c = 0; c < n_classes; ++c)
                    std::copy_n(group.y[c].data(), width, out.data() + c * n + i);
                continue;
            }
            for (std::size_t k = i; k < std::min(i + width, end); ++k) {
                solve_vertex(k, v, finite(step[k]), d, y);
                for (std::size_t c = 0; c < n_classes; ++c) out[c * n + k] = y[c];
            }
        }
    });
}

double EntropicSimplexTerm::finite(double tau) const { return std::min(tau, longest_step_); }

// τ is bounded away from 0, where a would not be finite.
double EntropicSimplexTerm::scale(double tau) const {
    return std::min(1.0 / (tau * epsilon_), 1e300);
}

void EntropicSimplexTerm::solve_vertex(std::size_t i, std::span<const double> v, double tau,
                                       std::span<double> d, std::span<double> u) const {
    const std::size_t n = n_vertices();
    const double a = scale(tau);
    std::size_t best = i;
    for (std::size_t e = i; e < v.size(); e += n)
        if (v[e] - tau * cost_[e] > v[best] - tau * cost_[best]) best = e;
    for (std::size_t c = 0, e = i; c < d.size(); ++c, e += n) {
        const double behind = (v[e] - v[best]) - tau * (cost_[e] - cost_[best]);
        d[c] = std::min(behind * a, 0.0);
    }
    simplex_prox(d, a, u);
}

bool EntropicSimplexTerm::solve_group(std::size_t i, std::span<const double> guess,
                                      std::span<const double> v, const Entries& steps,
                                      SimplexGroup& group) const {
    constexpr std::size_t width = SimplexGroup::width;
    const std::size_t n = n_vertices();
    SimplexGroup::Row tau, best, best_v, best_cost;
    for (std::size_t k = 0; k < width; ++k) {
        tau[k] = finite(steps[i + k]);
        group.a[k] = scale(tau[k]);
        best_v[k] = v[i + k];
        best_cost[k] = cost_[i + k];
        best[k] = best_v[k] - tau[k] * best_cost[k];
    }
    for (std::size_t c = 1; c < n_channels(); ++c)
        for (std::size_t k = 0; k < width; ++k) {
            const double here_v = v[c * n + i + k], here_cost = cost_[c * n + i + k];
            const double here = here_v - tau[k] * here_cost;
            const bool is_better = here > best[k];
            best[k] = is_better ? here : best[k];
            best_v[k] = is_better ? here_v : best_v[k];
            best_cost[k] = is_better ? here_cost : best_cost[k];
        }
    for (std::size_t c = 0; c < n_channels(); ++c) {
        const std::size_t first = c * n + i;
        for (std::size_t k = 0; k < width; ++k) {
            const double behind =
                (v[first + k] - best_v[k]) - tau[k] * (cost_[first + k] - best_cost[k]);
            group.d[c][k] = std::min(behind * group.a[k], 0.0);
            group.y[c][k] = guess[first + k];
        }
    }
    return group.solve();
}

}  // namespace graphtv

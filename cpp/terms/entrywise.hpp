// The loops that terms share which are a sum over entries. A term provides the formulas for one
// entry,
//
//     value_at(i, u), conjugate_at(i, s), prox_at(i, v, step),
//     maximizer_at(i, s)         argmax_u s u - G_i(u) over the domain
//     excess_at(i, u, s)         G_i(u) + G_i*(s) - u s, without cancellation
//     excess_error_at(i, u, s) by how much s would have to change to make the computed excess exact
//     rate_at(i), extra_size_at(i) value_at(i, u) adds up numbers, and a multiple of u, whose sizes
//                                exceed its own by at most 2 rate |u| + extra
//
// which are inlined here.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "terms/data_term.hpp"
#include "terms/divergence.hpp"
#include "terms/sum.hpp"

namespace graphtv {

// A borrowed number per entry, or one number for all entries.
class Entries {
  public:
    explicit Entries(std::span<const double> values)
        : data_(values.data()), stride_(values.size() == 1 ? 0 : 1) {}

    double operator[](std::size_t i) const { return data_[i * stride_]; }
    bool is_single() const { return stride_ == 0; }

  private:
    const double* data_;
    std::size_t stride_;
};

// step · weight, kept finite: beyond this bound the proximal map is a minimiser to the last bit.
inline double finite_product(double step, double weight) { return std::min(step * weight, 1e300); }

// The range of the signal over all entries with data; {0} if there are none.
inline Interval signal_range(std::size_t n, const Entries& signal, const Entries& weights) {
    Interval range{std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < n; ++i)
        if (weights[i] > 0.0) {
            range.lower = std::min(range.lower, signal[i]);
            range.upper = std::max(range.upper, signal[i]);
        }
    return range.lower <= range.upper ? range : Interval{0.0, 0.0};
}

// (v + a f)/(1 + a), computed as a step from the heavier of the two towards the other. This avoids
// cancellation that is not in the data, and the mean of equal numbers is exact. Problems whose
// minimum is 0 depend on this, since any error in the last bit violates a relative gap there.
inline double weighted_mean(double v, double f, double a) {
    return a > 1.0 ? f + (v - f) / (1.0 + a) : v + (f - v) * (a / (1.0 + a));
}

template <class Term, class Base>
class EntrywiseTerm : public Base {
  public:
    using Base::Base;

    double value(std::span<const double> u, int n_threads) const override {
        return sum_of(u.size(), n_threads, [&](std::size_t i) { return self().value_at(i, u[i]); })
            .value();
    }

    double conjugate(std::span<const double> s, int n_threads) const override {
        return sum_of(s.size(), n_threads,
                      [&](std::size_t i) { return self().conjugate_at(i, s[i]); })
            .value();
    }

    // The derivative of the excess in s is maximizer_at(i, s) - u, which increases with s. So the
    // effect of an error of s is largest at one of the ends of its interval.
    Tally tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                int n_threads) const override {
        const auto fill = [&](std::size_t first, std::size_t length, TallyRow& row) {
            for (std::size_t k = 0; k < length; ++k) {
                const std::size_t i = first + k;
                const double x = u[i], y = s[i];
                const double error = errors[i] + self().excess_error_at(i, x, y);
                const double low = self().maximizer_at(i, y - error);
                const double high = self().maximizer_at(i, y + error);
                const double farthest = std::max(std::abs(low), std::abs(high));
                row.value[k] = self().value_at(i, x);
                row.conjugate[k] = self().conjugate_at(i, y);
                row.excess[k] = self().excess_at(i, x, y);
                const double size =
                    std::abs(row.value[k]) + std::abs(row.conjugate[k]) +
                    2.0 * (std::abs(y) + self().rate_at(i)) * (std::abs(x) + farthest) +
                    self().extra_size_at(i);
                row.rounding[k] = 16.0 * unit_roundoff * size + error * farthest;
                const double away = std::max(std::abs(low - x), std::abs(high - x)) +
                                    8.0 * unit_roundoff * (farthest + std::abs(x));
                row.excess_rounding[k] =
                    product_above(error, away) + formula_error * std::abs(row.excess[k]);
            }
        };
        return tally_of(u.size(), n_threads, fill);
    }

    // Defaults for terms whose formulas are as accurate as their operations and whose values have
    // no cancellation.
    double excess_error_at(std::size_t, double, double) const { return 0.0; }
    double rate_at(std::size_t) const { return 0.0; }
    double extra_size_at(std::size_t) const { return 0.0; }

    void prox(std::span<const double> v, std::span<const double> steps, std::span<double> out,
              int n_threads) const override {
        const Entries step(steps);
        const std::size_t n = this->n_vertices();
        for_shards(n, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t channel = 0; channel < this->n_channels(); ++channel)
                for (std::size_t i = begin; i < end; ++i) {
                    const std::size_t entry = channel * n + i;
                    out[entry] = self().prox_at(entry, v[entry], step[i]);
                }
        });
    }

  private:
    const Term& self() const { return static_cast<const Term&>(*this); }
};

}  // namespace graphtv

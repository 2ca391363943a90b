#include "terms/group_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/each_cpu.hpp"
#include "terms/group_error.hpp"

namespace graphtv {

namespace {

// Rounding errors of 1 - ‖p‖² may add this share of the excess to the gap.
constexpr double relevant = 1e-3;

}  // namespace

void clear(GroupSums& sums, std::size_t length) {
    for (auto* values : {&sums.squares_of_p, &sums.squares_of_x, &sums.sizes, &sums.distance})
        std::fill_n(values->begin(), length, 0.0);
}

GRAPHTV_FOR_EACH_CPU
void add_squares(const GroupEntries& entries, std::size_t length, GroupSums& sums) {
    const auto [p, weights, tails, heads] = entries;
#pragma GCC ivdep
    for (std::size_t k = 0; k < length; ++k) {
        const double x = weights[k] * (tails[k] - heads[k]);
        sums.squares_of_p[k] += p[k] * p[k];
        sums.squares_of_x[k] += x * x;
        sums.sizes[k] += std::abs(x);
    }
}

GRAPHTV_FOR_EACH_CPU
bool set_norms(std::size_t size, double delta, std::size_t length, GroupSums& sums) {
    const double most = 1.0 - norm_error(size);
    std::size_t n_bad = 0;
#pragma GCC ivdep
    for (std::size_t k = 0; k < length; ++k) {
        const double x = sums.squares_of_x[k];
        const bool is_accurate =
            ((x >= least_square) & (x <= greatest_square)) | (sums.sizes[k] == 0.0);
        n_bad += is_accurate & (sums.squares_of_p[k] <= most) ? 0 : 1;
        const double norm = std::sqrt(x), larger = norm > delta ? norm : delta;
        sums.norms[k] = norm;
        sums.inverse[k] = larger > 0.0 ? 1.0 / larger : 0.0;
    }
    return n_bad == 0;
}

GRAPHTV_FOR_EACH_CPU
void add_distance(const GroupEntries& entries, std::size_t length, GroupSums& sums) {
    const auto [p, weights, tails, heads] = entries;
#pragma GCC ivdep
    for (std::size_t k = 0; k < length; ++k) {
        const double d = p[k] - weights[k] * (tails[k] - heads[k]) * sums.inverse[k];
        sums.distance[k] += d * d;
    }
}

GRAPHTV_FOR_EACH_CPU
bool fill_row(const GroupSums& sums, std::size_t size, double delta, std::size_t first,
              std::size_t length, TallyRow& row) {
    const double error = norm_error(size);
    double *value = row.value.data() + first, *conjugate = row.conjugate.data() + first;
    double *rounding = row.rounding.data() + first, *excess = row.excess.data() + first;
    double* excess_rounding = row.excess_rounding.data() + first;
#pragma GCC ivdep
    for (std::size_t k = 0; k < length; ++k) {
        const double norm = sums.norms[k], distance = sums.distance[k];
        const double larger = norm > delta ? norm : delta;
        const double rest = 1.0 - sums.squares_of_p[k];
        // Huber's function of width δ.
        const double inner = delta > 0.0 ? 0.5 * norm * norm / delta : 0.0;
        value[k] = norm > delta ? norm - 0.5 * delta : inner;
        conjugate[k] = 0.5 * delta * sums.squares_of_p[k];
        rounding[k] = error * (value[k] + conjugate[k]);
        const double beyond = norm > delta ? 0.5 * (norm - delta) : 0.0;
        excess[k] = 0.5 * larger * distance + beyond * rest;
        const double of_distance = 2.0 * std::sqrt(distance) * error + error * error;
        const double found = 0.5 * larger * (of_distance + 0x1p-100) + beyond * error +
                             error * norm * rest + formula_error * excess[k] + underflow_floor;
        excess_rounding[k] = larger > 0.0 ? found : 0.0;
    }
    std::array<double, 4> total{}, added{};
    for (std::size_t k = 0; k + 4 <= length; k += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            total[lane] += excess[k + lane];
            added[lane] += value[k + lane];
        }
    const double all = (total[0] + total[1]) + (total[2] + total[3]);
    return error * ((added[0] + added[1]) + (added[2] + added[3])) <= relevant * all;
}

GRAPHTV_FOR_EACH_CPU
void add_squares(const double* __restrict p, std::size_t length, double* __restrict squares) {
    for (std::size_t k = 0; k < length; ++k) squares[k] += p[k] * p[k];
}

GRAPHTV_FOR_EACH_CPU
bool set_factors(const double* __restrict squares, std::size_t size, std::size_t length,
                 double* __restrict factors) {
    const double error = norm_error(size), doubt = 2.0 * error;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    std::size_t n_unknown = 0;
    for (std::size_t k = 0; k < length; ++k) {
        const double x = squares[k], factor = (1.0 - error) / std::sqrt(x);
        const bool is_outside = (x > 1.0 + doubt) & (x <= greatest_square);
        const bool is_inside = x <= 1.0 - doubt;
        factors[k] = is_inside ? 1.0 : is_outside ? factor : unknown;
        n_unknown += is_inside | is_outside ? 0 : 1;
    }
    return n_unknown == 0;
}

GRAPHTV_FOR_EACH_CPU
void scale(double* __restrict p, std::size_t length, const double* __restrict factors) {
    for (std::size_t k = 0; k < length; ++k) p[k] *= factors[k];
}

}  // namespace graphtv

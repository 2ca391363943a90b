#include "solver/descent/matching.hpp"

#include <array>
#include <cmath>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

inline float clipped(float value, float bound) {
    const float above = value > -bound ? value : -bound;
    return above < bound ? above : bound;
}

// Σ term(k) over [0, size), in a fixed order that the compiler can vectorise.
template <class Term>
GRAPHTV_INLINE double sum_in_lanes(std::size_t size, const Term& term) {
    constexpr std::size_t n_lanes = 8;
    std::array<double, n_lanes> sums{};
    std::size_t k = 0;
    for (; k + n_lanes <= size; k += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            sums[lane] += static_cast<double>(term(k + lane));
    double total = 0.0;
    for (; k < size; ++k) total += static_cast<double>(term(k));
    for (const double sum : sums) total += sum;
    return total;
}

// The same with vertex weights c, given 1/c, or null for ones.
template <class Term>
GRAPHTV_INLINE double sum_over_vertices(std::size_t size, const float* inverse, const Term& term) {
    if (inverse == nullptr) return sum_in_lanes(size, term);
    return sum_in_lanes(size, [=](std::size_t k) { return term(k) / inverse[k]; });
}

GRAPHTV_FOR_EACH_CPU
void move_plain(float* __restrict lower, float* __restrict upper, const float* __restrict capacity,
                float* __restrict x, float* __restrict y, std::size_t n, float beta) {
    for (std::size_t k = 0; k < n; ++k) {
        const float moved = clipped(y[k] + 0.5F * (lower[k] - upper[k]), capacity[k]);
        const float step = moved - y[k];
        lower[k] -= step;
        upper[k] += step;
        y[k] = moved + beta * (moved - x[k]);
        x[k] = moved;
    }
}

GRAPHTV_FOR_EACH_CPU
void move_weighted(float* __restrict lower, float* __restrict upper, const float* __restrict a,
                   const float* __restrict b, const float* __restrict capacity, float* __restrict x,
                   float* __restrict y, std::size_t n, float beta) {
    for (std::size_t k = 0; k < n; ++k) {
        const float top = y[k] + (lower[k] - upper[k]) / (a[k] + b[k]);
        const float moved = clipped(top, capacity[k]);
        const float step = moved - y[k];
        lower[k] -= a[k] * step;
        upper[k] += b[k] * step;
        y[k] = moved + beta * (moved - x[k]);
        x[k] = moved;
    }
}

GRAPHTV_FOR_EACH_CPU
void move_plain_pairs(float* __restrict r, const float* __restrict capacity, float* __restrict x,
                      float* __restrict y, std::size_t n, float beta) {
    for (std::size_t k = 0; k < n; ++k) {
        const float lower = r[2 * k], upper = r[2 * k + 1];
        const float moved = clipped(y[k] + 0.5F * (lower - upper), capacity[k]);
        const float step = moved - y[k];
        r[2 * k] = lower - step;
        r[2 * k + 1] = upper + step;
        y[k] = moved + beta * (moved - x[k]);
        x[k] = moved;
    }
}

GRAPHTV_FOR_EACH_CPU
void move_weighted_pairs(float* __restrict r, const float* __restrict inverse,
                         const float* __restrict capacity, float* __restrict x, float* __restrict y,
                         std::size_t n, float beta) {
    for (std::size_t k = 0; k < n; ++k) {
        const float lower = r[2 * k], upper = r[2 * k + 1];
        const float a = inverse[2 * k], b = inverse[2 * k + 1];
        const float moved = clipped(y[k] + (lower - upper) / (a + b), capacity[k]);
        const float step = moved - y[k];
        r[2 * k] = lower - a * step;
        r[2 * k + 1] = upper + b * step;
        y[k] = moved + beta * (moved - x[k]);
        x[k] = moved;
    }
}

}  // namespace

void move(const Matching& edges, float beta) {
    const auto& [lower, upper, a, b, capacity, x, y, size] = edges;
    if (a == nullptr)
        move_plain(lower, upper, capacity, x, y, size, beta);
    else
        move_weighted(lower, upper, a, b, capacity, x, y, size, beta);
}

void move_pairs(float* r, const float* inverse, const float* capacity, float* x, float* y,
                std::size_t size, float beta) {
    if (inverse == nullptr)
        move_plain_pairs(r, capacity, x, y, size, beta);
    else
        move_weighted_pairs(r, inverse, capacity, x, y, size, beta);
}

GRAPHTV_FOR_EACH_CPU
void extrapolate(float* __restrict r, float* __restrict u, std::size_t size, float beta) {
    for (std::size_t k = 0; k < size; ++k) {
        const float kept = r[k];
        r[k] = kept + beta * (kept - u[k]);
        u[k] = kept;
    }
}

GRAPHTV_FOR_EACH_CPU
void push(const float* __restrict x, float* __restrict lower, float* __restrict upper,
          std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) {
        lower[k] += x[k];
        upper[k] -= x[k];
    }
}

GRAPHTV_FOR_EACH_CPU
double variation(const float* a, const float* b, const float* w, std::size_t size) {
    return sum_in_lanes(size, [=](std::size_t k) { return w[k] * std::abs(a[k] - b[k]); });
}

GRAPHTV_FOR_EACH_CPU
double difference_of_squares(const float* a, const float* b, const float* inverse,
                             std::size_t size) {
    const auto term = [=](std::size_t k) { return 0.5F * (a[k] - b[k]) * (a[k] + b[k]); };
    return sum_over_vertices(size, inverse, term);
}

GRAPHTV_FOR_EACH_CPU
double squared_distance(const float* a, const float* b, const float* inverse, std::size_t size) {
    const auto term = [=](std::size_t k) { return 0.5F * (a[k] - b[k]) * (a[k] - b[k]); };
    return sum_over_vertices(size, inverse, term);
}

GRAPHTV_FOR_EACH_CPU
double energy(const float* a, const float* inverse, std::size_t size) {
    const auto term = [=](std::size_t k) {
        const double value = a[k];
        return 0.5 * value * value;
    };
    return sum_over_vertices(size, inverse, term);
}

}  // namespace graphtv

#include "solver/descent/stars.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

// Stars are dealt with in chunks whose sums over channels fit in the cache.
constexpr std::size_t chunk = 128;

// Keeps quotients of zeros finite.
template <class Real>
constexpr Real tiny = Real(1e-30);

// The flow is `across` times the part of v across 1 plus `along` times the part along 1.
template <class Real>
struct Factors {
    Real across, along;
};

template <class Real>
GRAPHTV_INLINE Real larger(Real a, Real b) {
    return a > b ? a : b;
}
template <class Real>
GRAPHTV_INLINE Real smaller(Real a, Real b) {
    return a < b ? a : b;
}

// A Newton step for 1/‖q(μ)‖ = 1/ω, given the squared norms of the two parts of v. With a = 1 + μ and
// b = k + 1 + μ, ‖q(μ)‖ = √(across b² + along a²) / ab.
template <class Real>
GRAPHTV_INLINE Real newton(Real across, Real along, Real inverse_capacity, Real most, Real mu) {
    const Real a = Real(1) + mu, b = most + mu;
    const Real p = across * b * b, q = along * a * a, squares = p + q;
    const Real step = squares * (std::sqrt(squares) * inverse_capacity - a * b);
    return larger(Real(0), mu + step / (p * b + q * a + tiny<Real>));
}

// `power` is ⟨x, v - Mx⟩ at the last flow x, which is μω² at a solution on the sphere. So one Newton
// step from there is exact in the limit; before, the scaling to the ball makes up for most of its error.
template <int n_axes, class Real>
GRAPHTV_INLINE Factors<Real> solve(Real across, Real along, Real power, Real inverse_capacity,
                                   Real n_edges) {
    if constexpr (n_axes == 1) {
        const Real factor = Real(1) / larger(Real(2), std::sqrt(along) * inverse_capacity);
        return {factor, factor};
    } else {
        const Real most = n_edges + Real(1);
        Real mu = larger(Real(0), power * inverse_capacity * inverse_capacity);
        mu = newton(across, along, inverse_capacity, most, mu);
        const Real a = Real(1) + mu, b = most + mu;
        const Real norm = std::sqrt(across * b * b + along * a * a);
        const Real scale = Real(1) / larger(a * b, norm * inverse_capacity);
        return {b * scale, a * scale};
    }
}

// v of a star in one channel, and the mean of its entries.
template <int n_axes, bool has_gaps, class Real>
struct Target {
    Real v[n_axes];
    Real mean;

    GRAPHTV_INLINE Target(const Stars<Real>& s, std::size_t offset, std::size_t i, Real inverse) {
        Real sum = 0;
        for (int a = 0; a < n_axes; ++a) sum += s.y[a][offset + i];
        mean = 0;
        for (int a = 0; a < n_axes; ++a) {
            Real here = s.y[a][offset + i] + sum + (s.centre[offset + i] - s.ends[a][offset + i]);
            if constexpr (has_gaps) here *= s.exists[a][i];
            v[a] = here;
            mean += here;
        }
        mean *= inverse;
    }
};

// 1/k of a star with k edges.
template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE Real inverse_of_edges(const Stars<Real>& s, std::size_t i) {
    if constexpr (!has_gaps) return Real(1) / n_axes;
    Real n = 0;
    for (int a = 0; a < n_axes; ++a) n += s.exists[a][i];
    return Real(1) / larger(n, Real(1));
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void add_parts(const Stars<Real>& s, const Target<n_axes, has_gaps, Real>& target,
                              std::size_t offset, std::size_t i, Real& across, Real& along,
                              Real& power) {
    Real squares = 0, here = 0, sum = 0, product = 0;
    for (int a = 0; a < n_axes; ++a) sum += s.x[a][offset + i];
    for (int a = 0; a < n_axes; ++a) {
        Real apart = target.v[a] - target.mean;
        if constexpr (has_gaps) apart *= s.exists[a][i];
        squares += apart * apart;
        here += target.v[a];
        product += s.x[a][offset + i] * (target.v[a] - s.x[a][offset + i] - sum);
    }
    across += squares;
    along += here * target.mean;
    power += product;
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void move_to(const Stars<Real>& s, const Target<n_axes, has_gaps, Real>& target,
                            const Factors<Real>& factors, std::size_t offset, std::size_t i,
                            Real beta) {
    const Real common = (factors.along - factors.across) * target.mean;
    Real total = 0;
    for (int a = 0; a < n_axes; ++a) {
        Real q = factors.across * target.v[a] + common;
        if constexpr (has_gaps) q *= s.exists[a][i];
        const Real step = q - s.y[a][offset + i];
        total += step;
        s.ends[a][offset + i] += step;
        s.y[a][offset + i] = q + beta * (q - s.x[a][offset + i]);
        s.x[a][offset + i] = q;
    }
    s.centre[offset + i] -= total;
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void move_one_channel(const Stars<Real>& given, Real beta) {
    const Stars<Real> s = given;
#pragma GCC ivdep
    for (std::size_t i = 0; i < s.size; ++i) {
        const Real inverse = inverse_of_edges<n_axes, has_gaps>(s, i);
        const Target<n_axes, has_gaps, Real> target(s, 0, i, inverse);
        Real across = 0, along = 0, power = 0;
        add_parts(s, target, 0, i, across, along, power);
        const auto factors =
            solve<n_axes>(across, along, power, s.inverse_capacity[i], Real(1) / inverse);
        move_to(s, target, factors, 0, i, beta);
    }
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void move_channels(const Stars<Real>& given, Real beta) {
    const Stars<Real> s = given;
    std::array<Real, chunk> across, along, power;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
        std::fill_n(across.begin(), n, Real(0));
        std::fill_n(along.begin(), n, Real(0));
        std::fill_n(power.begin(), n, Real(0));
        for (std::size_t c = 0; c < s.n_channels; ++c) {
#pragma GCC ivdep
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t i = first + k;
                const Real inverse = inverse_of_edges<n_axes, has_gaps>(s, i);
                const Target<n_axes, has_gaps, Real> target(s, c * s.channel, i, inverse);
                add_parts(s, target, c * s.channel, i, across[k], along[k], power[k]);
            }
        }
#pragma GCC ivdep
        for (std::size_t k = 0; k < n; ++k) {
            const Real inverse = inverse_of_edges<n_axes, has_gaps>(s, first + k);
            const auto factors = solve<n_axes>(across[k], along[k], power[k],
                                               s.inverse_capacity[first + k], Real(1) / inverse);
            across[k] = factors.across;
            along[k] = factors.along;
        }
        for (std::size_t c = 0; c < s.n_channels; ++c) {
#pragma GCC ivdep
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t i = first + k;
                const Real inverse = inverse_of_edges<n_axes, has_gaps>(s, i);
                const Target<n_axes, has_gaps, Real> target(s, c * s.channel, i, inverse);
                move_to(s, target, {across[k], along[k]}, c * s.channel, i, beta);
            }
        }
    }
}

template <int n_axes, class Real>
GRAPHTV_INLINE void move_axes(const Stars<Real>& s, Real beta) {
    const bool has_gaps = s.exists[0] != nullptr;
    if (s.n_channels == 1) {
        if (has_gaps)
            move_one_channel<n_axes, true>(s, beta);
        else
            move_one_channel<n_axes, false>(s, beta);
    } else {
        if (has_gaps)
            move_channels<n_axes, true>(s, beta);
        else
            move_channels<n_axes, false>(s, beta);
    }
}

template <class Real>
GRAPHTV_INLINE void move_stars(const Stars<Real>& s, Real beta) {
    if (s.n_axes == 1) return move_axes<1>(s, beta);
    if (s.n_axes == 2) return move_axes<2>(s, beta);
    move_axes<3>(s, beta);
}

template <int n_axes, class Real>
GRAPHTV_INLINE double variation_of(const Stars<Real>& s) {
    std::array<Real, chunk> squares;
    double sum = 0.0;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
        std::fill_n(squares.begin(), n, Real(0));
        for (std::size_t c = 0; c < s.n_channels; ++c)
            for (int a = 0; a < n_axes; ++a) {
                const Real* centre = s.centre + c * s.channel + first;
                const Real* end = s.ends[a] + c * s.channel + first;
                const Real* exists = s.exists[a] == nullptr ? nullptr : s.exists[a] + first;
                for (std::size_t k = 0; k < n; ++k) {
                    Real d = centre[k] - end[k];
                    if (exists != nullptr) d *= exists[k];
                    squares[k] += d * d;
                }
            }
        std::array<double, 8> sums{};
        for (std::size_t k = 0; k < n; ++k)
            squares[k] = std::sqrt(squares[k]) / s.inverse_capacity[first + k];
        for (std::size_t k = 0; k < n; ++k) sums[k % 8] += static_cast<double>(squares[k]);
        for (const double part : sums) sum += part;
    }
    return sum;
}

template <class Real>
GRAPHTV_INLINE double variation_of_stars(const Stars<Real>& s) {
    if (s.n_axes == 1) return variation_of<1>(s);
    if (s.n_axes == 2) return variation_of<2>(s);
    return variation_of<3>(s);
}

// Σ term(k) over [0, size), in a fixed order that the compiler can vectorise.
template <class Term>
GRAPHTV_INLINE double sum_in_lanes(std::size_t size, const Term& term) {
    constexpr std::size_t n_lanes = 8;
    std::array<double, n_lanes> sums{};
    std::size_t k = 0;
    for (; k + n_lanes <= size; k += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane) sums[lane] += term(k + lane);
    double total = 0.0;
    for (; k < size; ++k) total += term(k);
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace

GRAPHTV_FOR_EACH_CPU
void move(const Stars<float>& stars, float beta) { move_stars(stars, beta); }
GRAPHTV_FOR_EACH_CPU
void move(const Stars<double>& stars, double beta) { move_stars(stars, beta); }

GRAPHTV_FOR_EACH_CPU
double variation(const Stars<float>& stars) { return variation_of_stars(stars); }
GRAPHTV_FOR_EACH_CPU
double variation(const Stars<double>& stars) { return variation_of_stars(stars); }

GRAPHTV_FOR_EACH_CPU
void extrapolate(double* __restrict r, double* __restrict u, std::size_t size, double beta) {
    for (std::size_t k = 0; k < size; ++k) {
        const double kept = r[k];
        r[k] = kept + beta * (kept - u[k]);
        u[k] = kept;
    }
}

GRAPHTV_FOR_EACH_CPU
double difference_of_squares(const double* a, const double* b, std::size_t size) {
    return sum_in_lanes(size, [=](std::size_t k) { return 0.5 * (a[k] - b[k]) * (a[k] + b[k]); });
}

GRAPHTV_FOR_EACH_CPU
double squared_distance(const double* a, const double* b, std::size_t size) {
    return sum_in_lanes(size, [=](std::size_t k) { return 0.5 * (a[k] - b[k]) * (a[k] - b[k]); });
}

GRAPHTV_FOR_EACH_CPU
double energy(const double* a, std::size_t size) {
    return sum_in_lanes(size, [=](std::size_t k) { return 0.5 * a[k] * a[k]; });
}

}  // namespace graphtv

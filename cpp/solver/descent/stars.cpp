#include "solver/descent/stars.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

// Stars are dealt with in chunks whose sums over channels fit in the cache.
constexpr std::size_t chunk = 128;

// The new flow of a star is scale (y + step g - share common), see `Gradient`.
template <class Real>
struct Factors {
    Real scale, step, share;
};

template <class Real>
GRAPHTV_INLINE Real larger(Real a, Real b) {
    return a > b ? a : b;
}

// 1/(k + 1) for a star with k edges.
template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE Real step_of(const Stars<Real>& s, std::size_t i) {
    if constexpr (!has_gaps) return Real(1) / (n_axes + 1);
    Real n = 1;
    for (int a = 0; a < n_axes; ++a) n += s.exists[a][i];
    return Real(1) / n;
}

// The gradient of a star in one channel, and the common part of M⁻¹g.
template <int n_axes, bool has_gaps, class Real>
struct Gradient {
    Real y[n_axes], g[n_axes];
    Real common;

    GRAPHTV_INLINE Gradient() = default;
    GRAPHTV_INLINE Gradient(const Stars<Real>& s, std::size_t offset, std::size_t i, Real step) {
        const Real centre = s.centre[offset + i];
        common = 0;
        for (int a = 0; a < n_axes; ++a) {
            y[a] = s.y[a][offset + i];
            g[a] = centre - s.ends[a][offset + i];
            if constexpr (has_gaps) g[a] *= s.exists[a][i];
            common += g[a];
        }
        common *= step;
    }

    // Adds the squared norms of the flows of both kinds of step.
    GRAPHTV_INLINE void add(const Stars<Real>& s, std::size_t i, Real step, Real& inner,
                            Real& outer) const {
        for (int a = 0; a < n_axes; ++a) {
            Real exact = y[a] + (g[a] - common);
            if constexpr (has_gaps) exact *= s.exists[a][i];
            const Real moved = y[a] + step * g[a];
            inner += exact * exact;
            outer += moved * moved;
        }
    }

    // Moves the flows, and extrapolates y by β.
    GRAPHTV_INLINE void move(const Stars<Real>& s, const Factors<Real>& factors, std::size_t offset,
                             std::size_t i, Real beta) const {
        const Real share = factors.share * common;
        Real total = 0;
        for (int a = 0; a < n_axes; ++a) {
            Real q = factors.scale * (y[a] + (factors.step * g[a] - share));
            if constexpr (has_gaps) q *= s.exists[a][i];
            const Real change = q - y[a];
            total += change;
            s.ends[a][offset + i] += change;
            s.y[a][offset + i] = q + beta * (q - s.x[a][offset + i]);
            s.x[a][offset + i] = q;
        }
        s.centre[offset + i] -= total;
    }
};

// The exact step if its flow is in the ball, otherwise a gradient step and its projection.
template <class Real>
GRAPHTV_INLINE Factors<Real> factors_of(Real inner, Real outer, Real inverse_capacity, Real step) {
    const bool is_inside = inner * (inverse_capacity * inverse_capacity) <= Real(1);
    const Real scale = Real(1) / larger(Real(1), std::sqrt(outer) * inverse_capacity);
    return {is_inside ? Real(1) : scale, is_inside ? Real(1) : step, is_inside ? Real(1) : Real(0)};
}

// All values of a star are in registers.
template <int n_axes, int n_channels, bool has_gaps, class Real>
GRAPHTV_INLINE void move_few_channels(const Stars<Real>& given, Real beta) {
    const Stars<Real> s = given;
#pragma GCC ivdep
    for (std::size_t i = 0; i < s.size; ++i) {
        const Real step = step_of<n_axes, has_gaps>(s, i);
        Gradient<n_axes, has_gaps, Real> gradients[n_channels];
        Real inner = 0, outer = 0;
        for (std::size_t c = 0; c < n_channels; ++c) {
            gradients[c] = {s, c * s.channel, i, step};
            gradients[c].add(s, i, step, inner, outer);
        }
        const auto factors = factors_of(inner, outer, s.inverse_capacity[i], step);
        for (std::size_t c = 0; c < n_channels; ++c)
            gradients[c].move(s, factors, c * s.channel, i, beta);
    }
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void move_channels(const Stars<Real>& given, Real beta) {
    const Stars<Real> s = given;
    std::array<Real, chunk> inner, outer;
    std::array<Factors<Real>, chunk> factors;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
        std::fill_n(inner.begin(), n, Real(0));
        std::fill_n(outer.begin(), n, Real(0));
        for (std::size_t c = 0; c < s.n_channels; ++c) {
#pragma GCC ivdep
            for (std::size_t k = 0; k < n; ++k) {
                const Real step = step_of<n_axes, has_gaps>(s, first + k);
                const Gradient<n_axes, has_gaps, Real> g(s, c * s.channel, first + k, step);
                g.add(s, first + k, step, inner[k], outer[k]);
            }
        }
#pragma GCC ivdep
        for (std::size_t k = 0; k < n; ++k)
            factors[k] = factors_of(inner[k], outer[k], s.inverse_capacity[first + k],
                                    step_of<n_axes, has_gaps>(s, first + k));
        for (std::size_t c = 0; c < s.n_channels; ++c) {
#pragma GCC ivdep
            for (std::size_t k = 0; k < n; ++k) {
                const Real step = step_of<n_axes, has_gaps>(s, first + k);
                const Gradient<n_axes, has_gaps, Real> g(s, c * s.channel, first + k, step);
                g.move(s, factors[k], c * s.channel, first + k, beta);
            }
        }
    }
}

template <int n_axes, bool has_gaps, class Real>
GRAPHTV_INLINE void move_any_channels(const Stars<Real>& s, Real beta) {
    if (s.n_channels == 1) return move_few_channels<n_axes, 1, has_gaps>(s, beta);
    if (s.n_channels == 3) return move_few_channels<n_axes, 3, has_gaps>(s, beta);
    move_channels<n_axes, has_gaps>(s, beta);
}

template <int n_axes, class Real>
GRAPHTV_INLINE void move_axes(const Stars<Real>& s, Real beta) {
    if (s.exists[0] != nullptr) return move_any_channels<n_axes, true>(s, beta);
    move_any_channels<n_axes, false>(s, beta);
}

template <class Real>
GRAPHTV_INLINE void move_stars(const Stars<Real>& s, Real beta) {
    if (s.n_axes == 1) return move_axes<1>(s, beta);
    if (s.n_axes == 2) return move_axes<2>(s, beta);
    move_axes<3>(s, beta);
}

// Σ x over one chunk, in a fixed order that the compiler can vectorise.
template <class Real>
GRAPHTV_INLINE double sum_of_chunk(const std::array<Real, chunk>& x, std::size_t n) {
    constexpr std::size_t n_lanes = 8;
    std::array<double, n_lanes> sums{};
    std::size_t k = 0;
    for (; k + n_lanes <= n; k += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            sums[lane] += static_cast<double>(x[k + lane]);
    double total = 0.0;
    for (; k < n; ++k) total += static_cast<double>(x[k]);
    for (const double sum : sums) total += sum;
    return total;
}

// ‖∇u‖² of n stars from the index `first` on.
template <int n_axes, class Real>
GRAPHTV_INLINE void squares_of(const Stars<Real>& s, std::size_t first, std::size_t n,
                               std::array<Real, chunk>& squares) {
    std::fill_n(squares.begin(), n, Real(0));
    for (std::size_t c = 0; c < s.n_channels; ++c)
        for (int a = 0; a < n_axes; ++a) {
            const Real* centre = s.centre + c * s.channel + first;
            const Real* end = s.ends[a] + c * s.channel + first;
            if (s.exists[a] == nullptr) {
                for (std::size_t k = 0; k < n; ++k)
                    squares[k] += (centre[k] - end[k]) * (centre[k] - end[k]);
            } else {
                const Real* exists = s.exists[a] + first;
                for (std::size_t k = 0; k < n; ++k) {
                    const Real d = (centre[k] - end[k]) * exists[k];
                    squares[k] += d * d;
                }
            }
        }
}

template <int n_axes, class Real>
GRAPHTV_INLINE double variation_of(const Stars<Real>& s) {
    std::array<Real, chunk> squares;
    double sum = 0.0;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
        squares_of<n_axes>(s, first, n, squares);
        const Real* inverse = s.inverse_capacity + first;
        for (std::size_t k = 0; k < n; ++k) squares[k] = std::sqrt(squares[k]) / inverse[k];
        sum += sum_of_chunk(squares, n);
    }
    return sum;
}

template <int n_axes, class Real>
GRAPHTV_INLINE double diffuse_along(const Stars<Real>& s, const Diffusion<Real>& d) {
    std::array<Real, chunk> squares, conductance, along;
    const Real width = d.width * d.width;
    double sum = 0.0;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
        squares_of<n_axes>(s, first, n, squares);
        const Real* inverse = s.inverse_capacity + first;
        for (std::size_t k = 0; k < n; ++k)
            conductance[k] = Real(1) / (std::sqrt(squares[k] + width) * inverse[k]);
        for (std::size_t k = 0; k < n; ++k) squares[k] = std::sqrt(squares[k]) / inverse[k];
        sum += sum_of_chunk(squares, n);
        for (int a = 0; a < n_axes; ++a) {
            const Real* exists = s.exists[a] == nullptr ? nullptr : s.exists[a] + first;
            for (std::size_t k = 0; k < n; ++k)
                along[k] = exists == nullptr ? conductance[k] : conductance[k] * exists[k];
            Real *here = d.denominator + first, *there = d.denominators[a] + first;
#pragma GCC ivdep
            for (std::size_t k = 0; k < n; ++k) {
                here[k] += along[k];
                there[k] += along[k];
            }
            for (std::size_t c = 0; c < s.n_channels; ++c) {
                const Real* centre = s.centre + c * s.channel + first;
                const Real* end = s.ends[a] + c * s.channel + first;
                Real* at_centre = d.numerator + c * d.channel + first;
                Real* at_end = d.numerators[a] + c * d.channel + first;
#pragma GCC ivdep
                for (std::size_t k = 0; k < n; ++k) {
                    at_centre[k] += along[k] * end[k];
                    at_end[k] += along[k] * centre[k];
                }
            }
        }
    }
    return sum;
}

template <class Real>
GRAPHTV_INLINE double diffuse_stars(const Stars<Real>& s, const Diffusion<Real>& sums) {
    if (s.n_axes == 1) return diffuse_along<1>(s, sums);
    if (s.n_axes == 2) return diffuse_along<2>(s, sums);
    return diffuse_along<3>(s, sums);
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
double diffuse(const Stars<float>& stars, const Diffusion<float>& sums) {
    return diffuse_stars(stars, sums);
}
GRAPHTV_FOR_EACH_CPU
double diffuse(const Stars<double>& stars, const Diffusion<double>& sums) {
    return diffuse_stars(stars, sums);
}

GRAPHTV_FOR_EACH_CPU
void blend(const float* __restrict u, float* __restrict mean, std::size_t size, float share) {
    for (std::size_t k = 0; k < size; ++k) mean[k] += share * (u[k] - mean[k]);
}
GRAPHTV_FOR_EACH_CPU
void blend(const double* __restrict u, double* __restrict mean, std::size_t size, double share) {
    for (std::size_t k = 0; k < size; ++k) mean[k] += share * (u[k] - mean[k]);
}

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

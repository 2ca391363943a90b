#include "solver/descent/stars.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

// Stars are dealt with in chunks whose sums over channels fit in the cache.
constexpr std::size_t chunk = 128;

// Sums are split into so many.
constexpr std::size_t n_lanes = 8;

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
        const Real centre = s.u.centre[offset + i];
        common = 0;
        for (int a = 0; a < n_axes; ++a) {
            y[a] = s.y[a][offset + i];
            g[a] = centre - s.u.ends[a][offset + i];
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
            s.u.ends[a][offset + i] += change;
            s.y[a][offset + i] = q + beta * (q - s.x[a][offset + i]);
            s.x[a][offset + i] = q;
        }
        s.u.centre[offset + i] -= total;
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
        const auto factors = factors_of(inner, outer, s.inverse_capacity[0][i], step);
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
            factors[k] = factors_of(inner[k], outer[k], s.inverse_capacity[0][first + k],
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

// Stars of a line at consecutive places, with the axes from `axis` on. If this is the first axis,
// their ends begin at the place `next`.
struct Cut {
    std::size_t from, next, size, axis;

    template <int n_axes, class Real>
    GRAPHTV_INLINE AtStars<Real> of(const AtStars<Real>& all) const {
        AtStars<Real> found{all.centre + from, {}};
        for (std::size_t k = 0; k < n_axes; ++k)
            found.ends[k] = axis + k == 0 ? all.centre + next : all.ends[axis + k] + from;
        return found;
    }

    template <int n_axes, class Real>
    GRAPHTV_INLINE Stars<Real> of(const Stars<Real>& all) const {
        Stars<Real> found{of<n_axes>(all.u), {},          {},    {}, {}, size,
                          all.n_channels,    all.channel, n_axes};
        for (std::size_t k = 0; k < n_axes; ++k) {
            found.x[k] = all.x[axis + k] + from;
            found.y[k] = all.y[axis + k] + from;
            const Real* exists = all.exists[axis + k];
            found.exists[k] = exists == nullptr ? nullptr : exists + from;
            found.inverse_capacity[k] = all.inverse_capacity[axis + k] + from;
        }
        return found;
    }
};

template <int n>
using Count = std::integral_constant<int, n>;

// Calls body(axes, cut) for the stars of a line with n_axes axes, phase by phase. The last vertex has
// no edge along the line.
template <int n_axes, class Real, class Body>
GRAPHTV_INLINE void for_each_cut(const StarLine<Real>& line, const Body& body) {
    const std::size_t n = line.n_phases, last_phase = (line.all.size - 1) % n;
    for (std::size_t phase = 0; phase < n; ++phase) {
        const std::size_t from = line.offsets[phase], end = line.offsets[phase + 1];
        const std::size_t next = phase + 1 < n ? end : 1;
        const std::size_t size = end - from - (phase == last_phase ? 1 : 0);
        if (!line.has_stars) {
            body(Count<1>{}, Cut{from, next, size, 0});
            continue;
        }
        body(Count<n_axes>{}, Cut{from, next, size, 0});
        if constexpr (n_axes > 1)
            if (phase == last_phase) body(Count<n_axes - 1>{}, Cut{end - 1, 0, 1, 1});
    }
    if (!line.has_stars)
        for (std::size_t axis = 1; axis < n_axes; ++axis)
            body(Count<1>{}, Cut{0, 0, line.all.size, axis});
}

// The same for the number of axes that the line has.
template <class Real, class Body>
GRAPHTV_INLINE void for_each_cut(const StarLine<Real>& line, const Body& body) {
    if (line.all.n_axes == 1) return for_each_cut<1>(line, body);
    if (line.all.n_axes == 2) return for_each_cut<2>(line, body);
    for_each_cut<3>(line, body);
}

template <class Real>
GRAPHTV_INLINE void move_line(const StarLine<Real>& line, Real beta) {
    const auto& all = line.all;
    if (all.exists[0] != nullptr)
        for_each_cut(line, [&](auto axes, const Cut& cut) GRAPHTV_INLINE_LAMBDA {
            move_any_channels<axes(), true>(cut.of<axes()>(all), beta);
        });
    else
        for_each_cut(line, [&](auto axes, const Cut& cut) GRAPHTV_INLINE_LAMBDA {
            move_any_channels<axes(), false>(cut.of<axes()>(all), beta);
        });
}

// Adds x to eight sums in turn, in loops that the compiler vectorises.
template <class Real>
GRAPHTV_INLINE void add_chunk(const std::array<Real, chunk>& x, std::size_t n,
                              std::array<double, n_lanes>& sums) {
    std::size_t k = 0;
    for (; k + n_lanes <= n; k += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            sums[lane] += static_cast<double>(x[k + lane]);
    for (; k < n; ++k) sums[k % n_lanes] += static_cast<double>(x[k]);
}

GRAPHTV_INLINE double total(const std::array<double, n_lanes>& sums) {
    double sum = 0.0;
    for (const double part : sums) sum += part;
    return sum;
}

// ‖∇u‖² of the star with index i. The number of channels may be known: otherwise it is 0.
template <int n_axes, int known, bool has_gaps, class Real>
GRAPHTV_INLINE Real square_of(const Stars<Real>& s, std::size_t i) {
    const std::size_t n_channels = known > 0 ? known : s.n_channels;
    Real square = 0;
    for (std::size_t c = 0; c < n_channels; ++c)
        for (int a = 0; a < n_axes; ++a) {
            Real d = s.u.centre[c * s.channel + i] - s.u.ends[a][c * s.channel + i];
            if constexpr (has_gaps) d *= s.exists[a][i];
            square += d * d;
        }
    return square;
}

template <int n_axes, int known, bool has_gaps, class Real>
GRAPHTV_INLINE void add_variation(const Stars<Real>& given, std::array<double, n_lanes>& sums) {
    const Stars<Real> s = given;
    std::array<Real, chunk> terms;
    for (std::size_t first = 0; first < s.size; first += chunk) {
        const std::size_t n = std::min(chunk, s.size - first);
#pragma GCC ivdep
        for (std::size_t k = 0; k < n; ++k)
            terms[k] = std::sqrt(square_of<n_axes, known, has_gaps>(s, first + k)) /
                       s.inverse_capacity[0][first + k];
        add_chunk(terms, n, sums);
    }
}

template <int n_axes, int known, bool has_gaps, class Real>
GRAPHTV_INLINE void add_diffusion(const Stars<Real>& given, const Diffusion<Real>& sums) {
    const Stars<Real> s = given;
    const Diffusion<Real> d = sums;
    const std::size_t n_channels = known > 0 ? known : s.n_channels;
#pragma GCC ivdep
    for (std::size_t i = 0; i < s.size; ++i) {
        const Real square = square_of<n_axes, known, has_gaps>(s, i) + d.width * d.width;
        const Real conductance = Real(1) / (std::sqrt(square) * s.inverse_capacity[0][i]);
        Real at_centre = 0;
        for (int a = 0; a < n_axes; ++a) {
            const Real along = has_gaps ? conductance * s.exists[a][i] : conductance;
            at_centre += along;
            d.denominator.ends[a][i] += along;
        }
        d.denominator.centre[i] += at_centre;
        for (std::size_t c = 0; c < n_channels; ++c) {
            const Real centre = s.u.centre[c * s.channel + i];
            Real towards = 0;
            for (int a = 0; a < n_axes; ++a) {
                const Real along = has_gaps ? conductance * s.exists[a][i] : conductance;
                towards += along * s.u.ends[a][c * s.channel + i];
                d.numerator.ends[a][c * d.channel + i] += along * centre;
            }
            d.numerator.centre[c * d.channel + i] += towards;
        }
    }
}

// Calls body(number of channels, whether there are gaps, …) with both known to the compiler; the number
// of channels is 0 if it is not 1 or 3.
template <class Real, class Body>
GRAPHTV_INLINE void for_kind_of(const Stars<Real>& s, const Body& body) {
    const bool has_gaps = s.exists[0] != nullptr;
    if (has_gaps) return body(Count<0>{}, std::true_type{});
    if (s.n_channels == 1) return body(Count<1>{}, std::false_type{});
    if (s.n_channels == 3) return body(Count<3>{}, std::false_type{});
    body(Count<0>{}, std::false_type{});
}

template <class Real>
GRAPHTV_INLINE double variation_of_line(const StarLine<Real>& line) {
    std::array<double, n_lanes> sums{};
    for_kind_of(line.all, [&](auto known, auto has_gaps) GRAPHTV_INLINE_LAMBDA {
        for_each_cut(line, [&](auto axes, const Cut& cut) GRAPHTV_INLINE_LAMBDA {
            add_variation<axes(), known(), has_gaps()>(cut.of<axes()>(line.all), sums);
        });
    });
    return total(sums);
}

template <class Real>
GRAPHTV_INLINE void diffuse_line(const StarLine<Real>& line, const Diffusion<Real>& diffusion) {
    for_kind_of(line.all, [&](auto known, auto has_gaps) GRAPHTV_INLINE_LAMBDA {
        for_each_cut(line, [&](auto axes, const Cut& cut) GRAPHTV_INLINE_LAMBDA {
            const Diffusion<Real> here{cut.of<axes()>(diffusion.numerator),
                                       cut.of<axes()>(diffusion.denominator), diffusion.channel,
                                       diffusion.width};
            add_diffusion<axes(), known(), has_gaps()>(cut.of<axes()>(line.all), here);
        });
    });
}

// Σ term(k) over [0, size), in a fixed order that the compiler can vectorise.
template <class Term>
GRAPHTV_INLINE double sum_in_lanes(std::size_t size, const Term& term) {
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
void move(const StarLine<float>& line, float beta) { move_line(line, beta); }
GRAPHTV_FOR_EACH_CPU
void move(const StarLine<double>& line, double beta) { move_line(line, beta); }

GRAPHTV_FOR_EACH_CPU
double variation(const StarLine<float>& line) { return variation_of_line(line); }
GRAPHTV_FOR_EACH_CPU
double variation(const StarLine<double>& line) { return variation_of_line(line); }

GRAPHTV_FOR_EACH_CPU
void diffuse(const StarLine<float>& line, const Diffusion<float>& sums) {
    diffuse_line(line, sums);
}
GRAPHTV_FOR_EACH_CPU
void diffuse(const StarLine<double>& line, const Diffusion<double>& sums) {
    diffuse_line(line, sums);
}

GRAPHTV_FOR_EACH_CPU
void divide(const float* __restrict numerator, const float* __restrict denominator,
            std::size_t size, float* __restrict out) {
    for (std::size_t k = 0; k < size; ++k) out[k] = numerator[k] / denominator[k];
}
GRAPHTV_FOR_EACH_CPU
void divide(const double* __restrict numerator, const double* __restrict denominator,
            std::size_t size, double* __restrict out) {
    for (std::size_t k = 0; k < size; ++k) out[k] = numerator[k] / denominator[k];
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

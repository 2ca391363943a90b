#include "solver/descent/coupled_edges.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

#if defined(__GNUC__)
// Some channels in a register.
template <std::size_t n_lanes, class Real>
struct RegisterOf {
    typedef Real type __attribute__((vector_size(n_lanes * sizeof(Real))));
};
template <std::size_t n_lanes, class Real>
using Register = typename RegisterOf<n_lanes, Real>::type;
#else
template <std::size_t n_lanes, class Real>
struct Register {
    Real lanes[n_lanes];

    Real operator[](std::size_t c) const { return lanes[c]; }
    friend Register operator+(Register a, const Register& b) {
        for (std::size_t c = 0; c < n_lanes; ++c) a.lanes[c] += b.lanes[c];
        return a;
    }
    friend Register operator-(Register a, const Register& b) {
        for (std::size_t c = 0; c < n_lanes; ++c) a.lanes[c] -= b.lanes[c];
        return a;
    }
    friend Register operator*(Register a, const Register& b) {
        for (std::size_t c = 0; c < n_lanes; ++c) a.lanes[c] *= b.lanes[c];
        return a;
    }
    friend Register operator*(Real factor, Register a) {
        for (Real& lane : a.lanes) lane *= factor;
        return a;
    }
};
#endif

template <class Lanes, class Real>
GRAPHTV_INLINE void load(Lanes& lanes, const Real* from) {
    std::memcpy(&lanes, from, sizeof(Lanes));
}

template <class Lanes, class Real>
GRAPHTV_INLINE void store(const Lanes& lanes, Real* to) {
    std::memcpy(to, &lanes, sizeof(Lanes));
}

// The sum of the lanes of a register.
template <std::size_t n_lanes, class Real>
GRAPHTV_INLINE Real sum_of_lanes(const Register<n_lanes, Real>& lanes) {
    Real sum = lanes[0] + lanes[1];
    if constexpr (n_lanes == 4) sum += lanes[2] + lanes[3];
    return sum;
}

template <std::size_t known>
constexpr std::size_t lanes_for = known == 2 ? 2 : 4;

// Moves one edge. The maximum of its paraboloid lies at y + (r_i - r_j) / (1/c_i + 1/c_j). `known`
// is the width if the compiler knows it, otherwise 0.
template <std::size_t known, bool has_vertex_weights, class Real>
GRAPHTV_INLINE void move_edge(const CoupledEdges<Real>& s, std::size_t e, Real beta,
                              Register<lanes_for<known>, Real>& uphill) {
    constexpr std::size_t n_lanes = lanes_for<known>;
    using Lanes = Register<n_lanes, Real>;
    const std::size_t width = known > 0 ? known : s.width;
    const auto i = at(s.edges[e].tail), j = at(s.edges[e].head);
    const Real a = has_vertex_weights ? s.inverse[i] : Real(1);
    const Real b = has_vertex_weights ? s.inverse[j] : Real(1);
    const Real per = has_vertex_weights ? Real(1) / (a + b) : Real(0.5);
    Real *tail = s.r + i * width, *head = s.r + j * width;
    Real *x = s.x + e * width, *y = s.y + e * width;
    Lanes from, to, last, before;
    const auto load_ends = [&](std::size_t c) {
        load(from, tail + c);
        load(to, head + c);
        load(before, y + c);
    };
    Real squares = 0;
    for (std::size_t c = 0; c < width; c += n_lanes) {
        load_ends(c);
        const Lanes top = before + per * (from - to), square = top * top;
        squares += sum_of_lanes<n_lanes, Real>(square);
    }
    const Real w = s.capacity[e], limit = w * w;
    const Real scale = w / std::sqrt(squares > limit ? squares : limit);  // 1 inside, as √w² = w
    for (std::size_t c = 0; c < width; c += n_lanes) {
        load_ends(c);
        load(last, x + c);
        const Lanes moved = scale * (before + per * (from - to));
        const Lanes step = moved - before, change = moved - last;
        store<Lanes>(from - a * step, tail + c);
        store<Lanes>(to + b * step, head + c);
        store<Lanes>(moved + beta * change, y + c);
        store(moved, x + c);
        uphill = uphill - step * change;
    }
}

// Calls body(width, whether there are vertex weights) with both known to the compiler; the width is
// 0 if it is large.
template <class Real, class Body>
GRAPHTV_INLINE auto for_kind_of(const CoupledEdges<Real>& s, const Body& body) {
    const auto with_width = [&](auto known) GRAPHTV_INLINE_LAMBDA {
        return s.inverse != nullptr ? body(known, std::true_type{})
                                    : body(known, std::false_type{});
    };
    if (s.width == 2) return with_width(std::integral_constant<std::size_t, 2>{});
    if (s.width == 4) return with_width(std::integral_constant<std::size_t, 4>{});
    if (s.width == 8) return with_width(std::integral_constant<std::size_t, 8>{});
    if (s.width == 12) return with_width(std::integral_constant<std::size_t, 12>{});
    return with_width(std::integral_constant<std::size_t, 0>{});
}

// Moves edges [first, last) of `count` stretches of this length.
template <class Real>
GRAPHTV_INLINE double sweep(const CoupledEdges<Real>& given, std::size_t first, std::size_t last,
                            std::size_t count, std::size_t length, Real beta) {
    return for_kind_of(given, [&](auto known, auto has_vertex_weights) GRAPHTV_INLINE_LAMBDA {
        constexpr std::size_t n_lanes = lanes_for<known()>;
        constexpr std::size_t block = 64;  // edges whose sums are in the precision of Real
        const CoupledEdges<Real> s = given;
        double total = 0.0;
        for (std::size_t begin = first; begin < last; begin += block) {
            Register<n_lanes, Real> uphill{};
            for (std::size_t k = begin; k < std::min(begin + block, last); ++k)
                for (std::size_t stretch = 0; stretch < count; ++stretch)
                    move_edge<known(), has_vertex_weights()>(s, stretch * length + k, beta, uphill);
            total += static_cast<double>(sum_of_lanes<n_lanes, Real>(uphill));
        }
        return total;
    });
}

// ‖u_i - u_j‖² for an edge.
template <std::size_t known, class Real>
GRAPHTV_INLINE Real square_of(const Real* tail, const Real* head, std::size_t given) {
    constexpr std::size_t n_lanes = lanes_for<known>;
    const std::size_t width = known > 0 ? known : given;
    Register<n_lanes, Real> sum{}, from, to;
    for (std::size_t c = 0; c < width; c += n_lanes) {
        load(from, tail + c);
        load(to, head + c);
        sum = sum + (from - to) * (from - to);
    }
    return sum_of_lanes<n_lanes, Real>(sum);
}

template <class Real>
GRAPHTV_INLINE double variation_of(const CoupledEdges<Real>& given, const Real* u,
                                   std::size_t first, std::size_t last) {
    return for_kind_of(given, [&](auto known, auto) GRAPHTV_INLINE_LAMBDA {
        const CoupledEdges<Real> s = given;
        const std::size_t width = known() > 0 ? known() : s.width;
        double sum = 0.0;
        for (std::size_t e = first; e < last; ++e) {
            const Real* tail = u + at(s.edges[e].tail) * width;
            const Real* head = u + at(s.edges[e].head) * width;
            const Real square = square_of<known()>(tail, head, width);
            sum += static_cast<double>(s.capacity[e] * std::sqrt(square));
        }
        return sum;
    });
}

template <class Real>
GRAPHTV_INLINE void diffuse_along(const CoupledEdges<Real>& given, const Real* u, Real delta,
                                  std::size_t first, std::size_t last, Real* numerators,
                                  Real* conductances) {
    for_kind_of(given, [&](auto known, auto) GRAPHTV_INLINE_LAMBDA {
        constexpr std::size_t n_lanes = lanes_for<known()>;
        const CoupledEdges<Real> s = given;
        const std::size_t width = known() > 0 ? known() : s.width;
        for (std::size_t e = first; e < last; ++e) {
            const auto i = at(s.edges[e].tail), j = at(s.edges[e].head);
            const Real *tail = u + i * width, *head = u + j * width;
            const Real square = square_of<known()>(tail, head, width);
            const Real conductance = s.capacity[e] / std::sqrt(square + delta * delta);
            conductances[i] += conductance;
            conductances[j] += conductance;
            Register<n_lanes, Real> from, to, sum;
            for (std::size_t c = 0; c < width; c += n_lanes) {
                load(from, tail + c);
                load(to, head + c);
                load(sum, numerators + i * width + c);
                store<Register<n_lanes, Real>>(sum + conductance * to, numerators + i * width + c);
                load(sum, numerators + j * width + c);
                store<Register<n_lanes, Real>>(sum + conductance * from,
                                               numerators + j * width + c);
            }
        }
        return 0;
    });
}

template <class Real>
GRAPHTV_INLINE double extrapolate_all(const CoupledEdges<Real>& s, Real* u, std::size_t n_vertices,
                                      Real beta) {
    constexpr std::size_t n_lanes = 8;
    double lanes[n_lanes] = {}, energy = 0.0;
    Real* r = s.r;
    const auto advance = [=](std::size_t k) {
        const Real now = r[k];
        r[k] = now + beta * (now - u[k]);
        u[k] = now;
        return static_cast<double>(now) * static_cast<double>(now);
    };
    if (s.inverse != nullptr) {
        for (std::size_t i = 0; i < n_vertices; ++i) {
            double squares = 0.0;
            for (std::size_t c = 0; c < s.width; ++c) squares += advance(i * s.width + c);
            energy += squares / static_cast<double>(s.inverse[i]);
        }
    } else {
        const std::size_t size = n_vertices * s.width, whole = size - size % n_lanes;
#pragma GCC ivdep
        for (std::size_t k = 0; k < whole; k += n_lanes)
            for (std::size_t lane = 0; lane < n_lanes; ++lane) lanes[lane] += advance(k + lane);
        for (std::size_t k = whole; k < size; ++k) energy += advance(k);
        for (const double part : lanes) energy += part;
    }
    return 0.5 * energy;
}

template <class Real>
GRAPHTV_INLINE double sweep_rest(const CoupledEdges<Real>& edges, Real beta) {
    return sweep(edges, edges.n_edges / n_stretches * n_stretches, edges.n_edges, 1, 0, beta);
}

}  // namespace

GRAPHTV_FOR_EACH_CPU
double move(const CoupledEdges<float>& edges, std::size_t first, std::size_t last, float beta) {
    return sweep(edges, first, last, n_stretches, edges.n_edges / n_stretches, beta);
}
double move_rest(const CoupledEdges<float>& edges, float beta) { return sweep_rest(edges, beta); }
GRAPHTV_FOR_EACH_CPU
double extrapolate(const CoupledEdges<float>& edges, float* u, std::size_t n_vertices, float beta) {
    return extrapolate_all(edges, u, n_vertices, beta);
}
GRAPHTV_FOR_EACH_CPU
double variation(const CoupledEdges<float>& edges, const float* u, std::size_t first,
                 std::size_t last) {
    return variation_of(edges, u, first, last);
}
GRAPHTV_FOR_EACH_CPU
void diffuse(const CoupledEdges<float>& edges, const float* u, float width, std::size_t first,
             std::size_t last, float* numerators, float* conductances) {
    diffuse_along(edges, u, width, first, last, numerators, conductances);
}

GRAPHTV_FOR_EACH_CPU
double move(const CoupledEdges<double>& edges, std::size_t first, std::size_t last, double beta) {
    return sweep(edges, first, last, n_stretches, edges.n_edges / n_stretches, beta);
}
double move_rest(const CoupledEdges<double>& edges, double beta) { return sweep_rest(edges, beta); }
GRAPHTV_FOR_EACH_CPU
double extrapolate(const CoupledEdges<double>& edges, double* u, std::size_t n_vertices,
                   double beta) {
    return extrapolate_all(edges, u, n_vertices, beta);
}
GRAPHTV_FOR_EACH_CPU
double variation(const CoupledEdges<double>& edges, const double* u, std::size_t first,
                 std::size_t last) {
    return variation_of(edges, u, first, last);
}
GRAPHTV_FOR_EACH_CPU
void diffuse(const CoupledEdges<double>& edges, const double* u, double width, std::size_t first,
             std::size_t last, double* numerators, double* conductances) {
    diffuse_along(edges, u, width, first, last, numerators, conductances);
}

}  // namespace graphtv

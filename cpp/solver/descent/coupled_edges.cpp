#include "solver/descent/coupled_edges.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

#if defined(__GNUC__)
// Some channels in a register.
template <std::size_t n_lanes>
struct RegisterOf {
    typedef double type __attribute__((vector_size(n_lanes * sizeof(double))));
};
template <std::size_t n_lanes>
using Register = typename RegisterOf<n_lanes>::type;
#else
template <std::size_t n_lanes>
struct Register {
    double lanes[n_lanes];

    double operator[](std::size_t c) const { return lanes[c]; }
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
    friend Register operator*(double factor, Register a) {
        for (double& lane : a.lanes) lane *= factor;
        return a;
    }
};
#endif

template <class Lanes>
GRAPHTV_INLINE void load(Lanes& lanes, const double* from) {
    std::memcpy(&lanes, from, sizeof(Lanes));
}

template <class Lanes>
GRAPHTV_INLINE void store(const Lanes& lanes, double* to) {
    std::memcpy(to, &lanes, sizeof(Lanes));
}

// Moves one edge. The maximum of its paraboloid lies at y + (r_i - r_j) / (1/c_i + 1/c_j). `known`
// is the width if the compiler knows it, otherwise 0.
template <std::size_t known, bool has_vertex_weights>
GRAPHTV_INLINE void move_edge(const CoupledEdges& s, std::size_t e, double beta,
                              std::array<double, 2>& uphill) {
    constexpr std::size_t n_lanes = known == 2 ? 2 : 4;
    using Lanes = Register<n_lanes>;
    const std::size_t width = known > 0 ? known : s.width;
    const auto i = at(s.edges[e].tail), j = at(s.edges[e].head);
    const double a = has_vertex_weights ? s.inverse[i] : 1.0;
    const double b = has_vertex_weights ? s.inverse[j] : 1.0;
    const double per = has_vertex_weights ? 1.0 / (a + b) : 0.5;
    double *tail = s.r + i * width, *head = s.r + j * width;
    double *x = s.x + e * width, *y = s.y + e * width;
    Lanes from, to, last, before;
    const auto load_ends = [&](std::size_t c) {
        load(from, tail + c);
        load(to, head + c);
        load(before, y + c);
    };
    double squares = 0.0;
    for (std::size_t c = 0; c < width; c += n_lanes) {
        load_ends(c);
        const Lanes top = before + per * (from - to), square = top * top;
        squares += square[0] + square[1];
        if constexpr (n_lanes == 4) squares += square[2] + square[3];
    }
    const double w = s.capacity[e], limit = w * w;
    const double scale = w / std::sqrt(squares > limit ? squares : limit);  // 1 inside, as √w² = w
    for (std::size_t c = 0; c < width; c += n_lanes) {
        load_ends(c);
        load(last, x + c);
        const Lanes moved = scale * (before + per * (from - to));
        const Lanes step = moved - before, change = moved - last;
        store<Lanes>(from - a * step, tail + c);
        store<Lanes>(to + b * step, head + c);
        store<Lanes>(moved + beta * change, y + c);
        store(moved, x + c);
        const Lanes product = step * change;
        uphill[0] -= product[0];
        uphill[1] -= product[1];
        if constexpr (n_lanes == 4) {
            uphill[0] -= product[2];
            uphill[1] -= product[3];
        }
    }
}

// Moves edges [first, last) of `count` stretches of this length.
template <std::size_t known, bool has_vertex_weights>
GRAPHTV_INLINE double sweep(const CoupledEdges& given, std::size_t first, std::size_t last,
                            std::size_t count, std::size_t length, double beta) {
    const CoupledEdges s = given;
    std::array<double, 2> uphill{};
    for (std::size_t k = first; k < last; ++k)
        for (std::size_t stretch = 0; stretch < count; ++stretch)
            move_edge<known, has_vertex_weights>(s, stretch * length + k, beta, uphill);
    return uphill[0] + uphill[1];
}

template <std::size_t known>
GRAPHTV_INLINE double sweep(const CoupledEdges& s, std::size_t first, std::size_t last,
                            std::size_t count, std::size_t length, double beta) {
    if (s.inverse != nullptr) return sweep<known, true>(s, first, last, count, length, beta);
    return sweep<known, false>(s, first, last, count, length, beta);
}

GRAPHTV_INLINE double sweep(const CoupledEdges& s, std::size_t first, std::size_t last,
                            std::size_t count, std::size_t length, double beta) {
    if (s.width == 2) return sweep<2>(s, first, last, count, length, beta);
    if (s.width == 4) return sweep<4>(s, first, last, count, length, beta);
    if (s.width == 8) return sweep<8>(s, first, last, count, length, beta);
    return sweep<0>(s, first, last, count, length, beta);
}

GRAPHTV_INLINE double extrapolate_all(const CoupledEdges& s, double* u, std::size_t n_vertices,
                                      double beta) {
    constexpr std::size_t n_lanes = 8;
    double lanes[n_lanes] = {}, energy = 0.0;
    double* r = s.r;
    const auto advance = [=](std::size_t k) {
        const double now = r[k];
        r[k] = now + beta * (now - u[k]);
        u[k] = now;
        return now * now;
    };
    if (s.inverse != nullptr) {
        for (std::size_t i = 0; i < n_vertices; ++i) {
            double squares = 0.0;
            for (std::size_t c = 0; c < s.width; ++c) squares += advance(i * s.width + c);
            energy += squares / s.inverse[i];
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

}  // namespace

GRAPHTV_FOR_EACH_CPU
double move(const CoupledEdges& edges, std::size_t first, std::size_t last, double beta) {
    return sweep(edges, first, last, n_stretches, edges.n_edges / n_stretches, beta);
}

double move_rest(const CoupledEdges& edges, double beta) {
    return sweep(edges, edges.n_edges / n_stretches * n_stretches, edges.n_edges, 1, 0, beta);
}

GRAPHTV_FOR_EACH_CPU
double extrapolate(const CoupledEdges& edges, double* u, std::size_t n_vertices, double beta) {
    return extrapolate_all(edges, u, n_vertices, beta);
}

}  // namespace graphtv

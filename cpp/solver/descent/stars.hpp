// Kernels of the descent over stars: one vertex, its centre, with edges to n_axes others. All are
// loops over stars without common vertices that the compiler vectorises. A call is for a whole line.
//
// The flows q of a star with k edges and capacity ω solve
//
//     min ½ qᵀMq - vᵀq,  ‖q‖ ≤ ω,    M = I + 11ᵀ,
//
// where v = My + g and g is the gradient at the extrapolated flow y. M has the eigenvalue k + 1 along 1
// and the eigenvalue 1 across. So y + M⁻¹g is the solution if it is in the ball. Otherwise one step of
// projected gradients follows, y + g / (k + 1) scaled to the ball, which also increases the dual
// objective. The exact solution on the sphere is the root of an equation: it takes 2.5 times as long
// and saves no iterations. With several channels the norm is over all of them.
#pragma once

#include <array>
#include <cstddef>

namespace graphtv {

inline constexpr int most_axes = 3;

// Values at the centres of stars, and at their other ends by axis.
template <class Real>
struct AtStars {
    Real* centre;
    std::array<Real*, most_axes> ends;
};

// The stars of consecutive vertices, one per index. Channels are `channel` places apart, at vertices
// and at edges alike.
template <class Real>
struct Stars {
    AtStars<Real> u;                                      // of the extrapolated flow
    std::array<Real*, most_axes> x, y;                    // the flow and its extrapolation
    std::array<const Real*, most_axes> exists;            // 1 or 0 by edge; null without gaps
    std::array<const Real*, most_axes> inverse_capacity;  // 1/ω; the same for all axes of a star
    std::size_t size, n_channels, channel;
    int n_axes;
};

// The stars of a line of a grid. The first axis is along it: its vertices are sorted by phase
// (lattice_layout.hpp), and the ends of the first axis are not set. The stars of a phase have no common
// vertices. If blocks are edges, each edge is dealt with on its own.
template <class Real>
struct StarLine {
    Stars<Real> all;
    const std::size_t* offsets;  // of the phases, and the size
    std::size_t n_phases;
    bool has_stars;
};

// Moves the flows of every star from y to the maximum of the dual objective, and extrapolates y by β.
void move(const StarLine<float>& line, float beta);
void move(const StarLine<double>& line, double beta);

// Σ ω ‖∇u‖ over the stars, with u in place of r; x and y are not used.
double variation(const StarLine<float>& line);
double variation(const StarLine<double>& line);

// One step of lagged diffusion: the numerators and the denominators of the new u, to which the edges
// of stars contribute. The denominator is the same for all channels.
template <class Real>
struct Diffusion {
    AtStars<Real> numerator, denominator;
    std::size_t channel;  // places between the numerators of two channels
    Real width;           // δ
};

// Adds the contributions of a line with the conductances ω / √(‖∇u‖² + δ²).
void diffuse(const StarLine<float>& line, const Diffusion<float>& sums);
void diffuse(const StarLine<double>& line, const Diffusion<double>& sums);

// numerator / denominator.
void divide(const float* numerator, const float* denominator, std::size_t size, float* out);
void divide(const double* numerator, const double* denominator, std::size_t size, double* out);

// mean += share (u - mean).
void blend(const float* u, float* mean, std::size_t size, float share);
void blend(const double* u, double* mean, std::size_t size, double share);

// Called after all stars of a vertex have been updated, when r is the new u. Stores u, and
// extrapolates r by β.
void extrapolate(double* r, double* u, std::size_t size, double beta);

// ½ Σ (a - b)(a + b), ½ Σ (a - b)² and ½ Σ a².
double difference_of_squares(const double* a, const double* b, std::size_t size);
double squared_distance(const double* a, const double* b, std::size_t size);
double energy(const double* a, std::size_t size);

}  // namespace graphtv

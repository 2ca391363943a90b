// Kernels of the descent over stars: one vertex, its centre, with edges to n_axes others. All are
// loops over stars without common vertices that the compiler vectorises.
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

// One star per index. Channels are `channel` places apart, at vertices and at edges alike.
template <class Real>
struct Stars {
    Real* centre;                               // u of the extrapolated flow
    std::array<Real*, most_axes> ends;          // the same at the other ends
    std::array<Real*, most_axes> x, y;          // the flow and its extrapolation
    std::array<const Real*, most_axes> exists;  // 1 for an edge, 0 for a gap; null without gaps
    const Real* inverse_capacity;               // 1/ω
    std::size_t size, n_channels, channel;
    int n_axes;
};

// Moves the flows of every star from y to the maximum of the dual objective, and extrapolates y by β.
void move(const Stars<float>& stars, float beta);
void move(const Stars<double>& stars, double beta);

// Σ ω ‖∇u‖ over the stars, with u in place of r; x and y are not used.
double variation(const Stars<float>& stars);
double variation(const Stars<double>& stars);

// One step of lagged diffusion for stars: where numerators and denominators of the new u are summed,
// at centres and ends. The denominator is the same for all channels.
template <class Real>
struct Diffusion {
    Real *numerator, *denominator;
    std::array<Real*, most_axes> numerators, denominators;
    std::size_t channel;  // places between the numerators of two channels
    Real width;           // δ
};

// Adds what the edges of the stars contribute, with the conductance ω / √(‖∇u‖² + δ²), and returns
// Σ ω ‖∇u‖.
double diffuse(const Stars<float>& stars, const Diffusion<float>& sums);
double diffuse(const Stars<double>& stars, const Diffusion<double>& sums);

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

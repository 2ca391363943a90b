// Kernels of the descent over edges: the update of a matching whose ends are contiguous in memory,
// the extrapolation afterwards, and the objectives. All are loops without branches that the
// compiler vectorises.
#pragma once

#include <cstddef>

namespace graphtv {

// One edge per index, from `lower` to `upper`.
struct Matching {
    float *lower, *upper;                        // u of the extrapolated flow at the ends
    const float *lower_inverse, *upper_inverse;  // 1/c at the ends, or null for ones
    const float* capacity;
    float *x, *y;  // the flow and its extrapolation
    std::size_t size;
};

// Moves every flow from y to the maximum of its parabola, clipped to the capacity, and extrapolates
// y by β.
void move(const Matching& edges, float beta);

// The same for edges between neighbours: edge k joins r[2k] and r[2k + 1]. `inverse` is 1/c like r,
// or null for ones.
void move_pairs(float* r, const float* inverse, const float* capacity, float* x, float* y,
                std::size_t size, float beta);

// Called after all edges of a vertex have been updated, when r is the new u. Stores u, and
// extrapolates r by β.
void extrapolate(float* r, float* u, std::size_t size, float beta);

// Subtracts flows at their lower ends and adds them at their upper ends, ∇ᵀx.
void push(const float* x, float* lower, float* upper, std::size_t size);

// Σ w |a - b|, w at the place of a.
double variation(const float* a, const float* b, const float* w, std::size_t size);

// ½ Σ c (a - b)(a + b), given 1/c, or null for ones.
double difference_of_squares(const float* a, const float* b, const float* inverse,
                             std::size_t size);

// ½ Σ c (a - b)², the same way.
double squared_distance(const float* a, const float* b, const float* inverse, std::size_t size);

// ½ Σ c a², in double precision throughout.
double energy(const float* a, const float* inverse, std::size_t size);

}  // namespace graphtv

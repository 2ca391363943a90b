// A data term G(u) = Σ_i G_i(u_i), convex and separable over the vertices, as the solvers see it.
//
// u has n vertices and C channels; arrays hold channel after channel: entry c·n + i is vertex i,
// channel c. Only the simplex couples the channels of a vertex.
//
// Every term has a domain that holds a minimiser of G + TV: its own (a box, a simplex), or all
// values between the least and the greatest minimiser of any G_i, since clipping u to that range
// lowers G and never raises TV. Conjugates are taken over the domain wherever they would be infinite
// otherwise, so that every |p| ≤ 1 has a finite dual value, and a certificate needs no repair.
#pragma once

#include <cstddef>
#include <span>

#include "graph/types.hpp"

namespace graphtv {

class DataTerm {
  public:
    virtual ~DataTerm() = default;

    virtual std::size_t n_vertices() const = 0;
    virtual std::size_t n_channels() const { return 1; }

    // G(u), summed with compensation; infinite outside the domain.
    virtual double value(std::span<const double> u) const = 0;

    // G*(s) = sup_u ⟨s, u⟩ - G(u), over the domain where needed; summed with compensation.
    virtual double conjugate(std::span<const double> s) const = 0;

    // out = argmin_u G(u) + Σ_i (u_i - v_i)² / (2 steps_i). One step for all, or one per vertex
    // (shared by its channels). `out` may be `v`.
    virtual void prox(std::span<const double> v, std::span<const double> steps,
                      std::span<double> out, int n_threads) const = 0;

    // γ such that G - γ/2 ‖u‖² is convex on the domain; 0 if there is none.
    virtual double strong_convexity() const { return 0.0; }
};

// A term whose G_i depend on one channel each and are differentiable inside the domain. What is
// needed to solve exactly: the value of a fused component, and how far each vertex is from it.
class SmoothTerm : public DataTerm {
  public:
    // G_i'(u), i an entry (channel and vertex) as above.
    virtual double derivative(std::size_t i, double u) const = 0;

    // argmin over m in the domain of Σ_{i ∈ component} G_i(m) + slope · m.
    virtual double minimizer(std::span<const Vertex> component, std::size_t channel,
                             double slope) const = 0;
};

}  // namespace graphtv

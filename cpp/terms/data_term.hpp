// A data term G(u) = Σ_i G_i(u_i), convex and separable over the vertices: the interface of the
// solvers.
//
// u has n vertices and C channels. Arrays hold one channel after another: entry c·n + i is vertex
// i, channel c. Only the simplex couples the channels of a vertex. The arrays of a term are
// borrowed and must outlive it.
//
// Every term has a domain that contains a minimiser of G + TV. It is the term's own domain (a box,
// a simplex) or the interval between the smallest and the largest minimiser of any G_i, since
// clipping u to this interval lowers G and never raises TV. Conjugates and proximal maps are those
// of G restricted to the domain. Every |p| ≤ 1 therefore has a finite dual value, and a certificate
// needs no repair. G itself is not restricted: a lower bound over the domain is a lower bound
// everywhere. Entries of the squared loss with a positive weight need no domain, and have none.
// (docs/theory/terms.md has the proofs.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include "graph/types.hpp"
#include "terms/tally.hpp"

namespace graphtv {

struct Interval {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    double clip(double x) const { return std::min(std::max(x, lower), upper); }
    double nearest_to_zero() const { return clip(0.0); }
    // argmax of s·u over the interval. For s = 0 it is the number nearest to 0.
    double maximizer(double s) const {
        return s > 0.0 ? upper : s < 0.0 ? lower : nearest_to_zero();
    }
    // The maximum of s·x over the interval, minus s·u.
    double excess(double u, double s) const {
        return s == 0.0 ? 0.0 : s * ((s > 0.0 ? upper : lower) - u);
    }
};

// The number of entries, and the position of the entries of a vertex.
struct TermShape {
    std::size_t n_vertices;
    std::size_t n_channels = 1;

    std::size_t size() const { return n_vertices * n_channels; }
    std::size_t entry(Vertex v, std::size_t channel) const {
        return channel * n_vertices + static_cast<std::size_t>(v);
    }
};

class DataTerm {
  public:
    explicit DataTerm(TermShape shape) : shape_(shape) {}
    virtual ~DataTerm() = default;
    DataTerm(const DataTerm&) = delete;
    DataTerm& operator=(const DataTerm&) = delete;

    TermShape shape() const { return shape_; }
    std::size_t n_vertices() const { return shape_.n_vertices; }
    std::size_t n_channels() const { return shape_.n_channels; }

    // G(u), by compensated summation; infinite where G is.
    virtual double value(std::span<const double> u, int n_threads = 1) const = 0;

    // G*(s) = sup_u ⟨s, u⟩ - G(u), over the domain where needed, by compensated summation.
    virtual double conjugate(std::span<const double> s, int n_threads = 1) const = 0;

    // Both sums, and the sum of G_i(u_i) + G_i*(s_i) - u_i s_i, for a certificate. s_i is known up
    // to errors_i. `value` and `conjugate` return the same bits.
    virtual Tally tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                        int n_threads) const = 0;

    // out = argmin_u G(u) + Σ_i (u_i - v_i)² / (2 steps_i). There is one step for all vertices, or
    // one per vertex (shared by its channels). `out` may be `v`.
    virtual void prox(std::span<const double> v, std::span<const double> steps,
                      std::span<double> out, int n_threads) const = 0;

    // The same up to rounding, for terms that iterate, starting from a guess. `out` must not be
    // `guess`.
    virtual void prox_near([[maybe_unused]] std::span<const double> guess,
                           std::span<const double> v, std::span<const double> steps,
                           std::span<double> out, int n_threads) const {
        prox(v, steps, out, n_threads);
    }

    // γ such that G - γ/2 ‖u‖² is convex on the domain; 0 if there is none.
    virtual double strong_convexity() const { return 0.0; }

    // An interval that contains every entry of some minimiser of G + TV.
    virtual Interval domain() const { return {}; }

  protected:
    TermShape shape_;
};

// A term whose G_i each depend on one entry, so that the value of a fused component is a problem in
// one number.
class SeparableTerm : public DataTerm {
  public:
    using DataTerm::DataTerm;

    // argmin over m in the domain of Σ_{i ∈ component} G_i(m) + slope · m.
    virtual double minimizer(std::span<const Vertex> component, std::size_t channel,
                             double slope) const = 0;
};

// A separable term with known subdifferentials. They measure how far each vertex is from the value
// of its component, which the exact solver needs.
class SlopedTerm : public SeparableTerm {
  public:
    using SeparableTerm::SeparableTerm;

    // ∂G_i(u), where i is an entry (channel and vertex) as above: from the left derivative to the
    // right one.
    virtual Interval slopes(std::size_t i, double u) const = 0;
};

// A term that is differentiable inside the domain.
class SmoothTerm : public SlopedTerm {
  public:
    using SlopedTerm::SlopedTerm;

    virtual double derivative(std::size_t i, double u) const = 0;

    Interval slopes(std::size_t i, double u) const final {
        const double slope = derivative(i, u);
        return {slope, slope};
    }
};

}  // namespace graphtv

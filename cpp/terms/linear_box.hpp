// A linear cost on a box, G(u) = Σ_i a_i u_i for lower_i ≤ u_i ≤ upper_i, else infinite. Used for
// minimum cuts and their relaxations.
//
//     G_i*(s) = max of (s - a) u over the box,    prox: v - τ a, clipped
#pragma once

#include "terms/entrywise.hpp"

namespace graphtv {

class LinearBoxTerm final : public EntrywiseTerm<LinearBoxTerm, SeparableTerm> {
  public:
    LinearBoxTerm(TermShape shape, std::span<const double> cost, std::span<const double> lower,
                  std::span<const double> upper);

    double value_at(std::size_t i, double u) const {
        return u >= lower_[i] && u <= upper_[i] ? cost_[i] * u
                                                : std::numeric_limits<double>::infinity();
    }
    double conjugate_at(std::size_t i, double s) const {
        const double slope = s - cost_[i];
        return slope * box(i).maximizer(slope);
    }
    double maximizer_at(std::size_t i, double s) const { return box(i).maximizer(s - cost_[i]); }
    double excess_at(std::size_t i, double u, double s) const {
        if (!(u >= lower_[i] && u <= upper_[i])) return std::numeric_limits<double>::infinity();
        return box(i).excess(u, s - cost_[i]);
    }
    double prox_at(std::size_t i, double v, double step) const {
        return box(i).clip(v - step * cost_[i]);
    }

    // In the boxes of all vertices of the component; if their intersection is empty, in any of
    // them.
    double minimizer(std::span<const Vertex> component, std::size_t channel,
                     double slope) const override;
    Interval domain() const override { return domain_; }

  private:
    Interval box(std::size_t i) const { return {lower_[i], upper_[i]}; }

    Entries cost_, lower_, upper_;
    Interval domain_;
};

}  // namespace graphtv

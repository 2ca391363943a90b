// A data term in the form that the exact finish uses: one channel, vertices by their number in the
// network.
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "solver/flow/undirected_network.hpp"
#include "terms/squared.hpp"

namespace graphtv {

class VertexLoss {
  public:
    VertexLoss(const SlopedTerm& term, std::size_t channel, const UndirectedNetwork& network)
        : term_(&term),
          smooth_(dynamic_cast<const SmoothTerm*>(&term)),
          squared_(dynamic_cast<const SquaredTerm*>(&term)),
          network_(&network),
          channel_(channel) {}

    // Whether some G_v has a kink.
    bool has_kinks() const { return smooth_ == nullptr; }

    // ∂G_v(m). Avoids the virtual call for the squared loss.
    Interval slopes(Vertex v, double m) const {
        if (squared_ == nullptr) return term_->slopes(entry(v), m);
        const double slope = squared_->derivative(entry(v), m);
        return {slope, slope};
    }

    // How much the rounding of m alone changes the derivative. The minimiser of a loss with kinks
    // is one of them, without rounding.
    double rounding(Vertex v, double m) const {
        constexpr double few = 8.0 * std::numeric_limits<double>::epsilon();
        if (squared_ != nullptr) return few * std::abs(m) * squared_->weight(entry(v));
        if (smooth_ == nullptr) return 0.0;
        return std::abs(smooth_->derivative(entry(v), m + few * std::abs(m)) -
                        smooth_->derivative(entry(v), m));
    }

    // argmin_m Σ G_v(m) + slope·m. `names` is scratch memory of the same size.
    double minimizer(std::span<const Vertex> vertices, double slope,
                     std::span<Vertex> names) const {
        if (!network_->is_renumbered()) return term_->minimizer(vertices, channel_, slope);
        for (std::size_t i = 0; i < vertices.size(); ++i)
            names[i] = network_->original(vertices[i]);
        return term_->minimizer(names, channel_, slope);
    }
    double minimizer(Vertex v, double slope) const {
        if (squared_ != nullptr && squared_->weight(entry(v)) > 0.0)
            return squared_->signal(entry(v)) - slope / squared_->weight(entry(v));
        const Vertex name = network_->original(v);
        return term_->minimizer({&name, 1}, channel_, slope);
    }

    Interval domain() const { return term_->domain(); }

    // Whether G_v is constant on the domain: a vertex without data.
    bool is_flat(Vertex v) const {
        const Interval range = domain();
        if (squared_ != nullptr) return !(squared_->weight(entry(v)) > 0.0);
        return slopes(v, range.lower).upper == 0.0 && slopes(v, range.upper).lower == 0.0;
    }

  private:
    std::size_t entry(Vertex v) const {
        return term_->shape().entry(network_->original(v), channel_);
    }

    const SlopedTerm* term_;
    const SmoothTerm* smooth_;
    const SquaredTerm* squared_;
    const UndirectedNetwork* network_;
    std::size_t channel_;
};

}  // namespace graphtv

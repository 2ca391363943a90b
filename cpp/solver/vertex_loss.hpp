// A data term as the exact finish sees it: one channel, vertices by their number in the network.
#pragma once

#include <span>
#include <vector>

#include "solver/flow_network.hpp"
#include "terms/data_term.hpp"

namespace graphtv {

class VertexLoss {
  public:
    VertexLoss(const SmoothTerm& term, std::size_t channel, const FlowNetwork& network)
        : term_(&term),
          network_(&network),
          channel_(channel),
          first_entry_(channel * term.n_vertices()) {}

    double derivative(Vertex v, double m) const {
        return term_->derivative(
            first_entry_ + static_cast<std::size_t>(network_->original(v)), m);
    }

    // argmin_m Σ G_v(m) + slope·m. `names` is scratch.
    double minimizer(std::span<const Vertex> vertices, double slope,
                     std::vector<Vertex>& names) const {
        if (!network_->is_renumbered()) return term_->minimizer(vertices, channel_, slope);
        names.resize(vertices.size());
        for (std::size_t i = 0; i < vertices.size(); ++i) names[i] = network_->original(vertices[i]);
        return term_->minimizer(names, channel_, slope);
    }
    double minimizer(Vertex v, double slope) const {
        const Vertex name = network_->original(v);
        return term_->minimizer({&name, 1}, channel_, slope);
    }

  private:
    const SmoothTerm* term_;
    const FlowNetwork* network_;
    std::size_t channel_, first_entry_;
};

}  // namespace graphtv

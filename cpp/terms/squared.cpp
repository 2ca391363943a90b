#include "terms/squared.hpp"

namespace graphtv {

SquaredTerm::SquaredTerm(TermShape shape, std::span<const double> signal,
                         std::span<const double> weights)
    : EntrywiseTerm(shape),
      signal_(signal),
      weights_(weights),
      domain_(signal_range(shape.size(), signal_, weights_)),
      least_weight_(weights.empty() ? 0.0 : *std::min_element(weights.begin(), weights.end())) {}

double SquaredTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                              double slope) const {
    CompensatedSum mass, moment;
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        mass.add(weights_[i]);
        moment.add(weights_[i] * signal_[i]);
    }
    moment.add(-slope);
    return mass.value() > 0.0 ? moment.value() / mass.value() : domain_.maximizer(-slope);
}

}  // namespace graphtv

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
    // Sums of differences: if all data are equal, their mean is exact.
    CompensatedSum mass, moment;
    double pivot = 0.0;
    bool is_set = false;
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        const double c = weights_[i];
        if (!(c > 0.0)) continue;
        if (!is_set) pivot = signal_[i];
        is_set = true;
        mass.add(c);
        moment.add(c * (signal_[i] - pivot));
    }
    moment.add(-slope);
    return is_set ? pivot + moment.value() / mass.value() : domain_.maximizer(-slope);
}

}  // namespace graphtv

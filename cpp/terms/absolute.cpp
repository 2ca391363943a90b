#include "terms/absolute.hpp"

#include <utility>
#include <vector>

namespace graphtv {

AbsoluteTerm::AbsoluteTerm(TermShape shape, std::span<const double> signal,
                           std::span<const double> weights)
    : EntrywiseTerm(shape),
      signal_(signal),
      weights_(weights),
      domain_(signal_range(shape.size(), signal_, weights_)) {}

double AbsoluteTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                               double slope) const {
    std::vector<std::pair<double, double>> jumps;  // where the derivative rises by 2c
    jumps.reserve(component.size());
    CompensatedSum derivative;  // at -∞
    derivative.add(slope);
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        if (weights_[i] == 0.0) continue;
        jumps.emplace_back(signal_[i], weights_[i]);
        derivative.add(-weights_[i]);
    }
    if (jumps.empty()) return domain_.maximizer(-slope);
    if (derivative.value() > 0.0) return domain_.lower;
    std::sort(jumps.begin(), jumps.end());
    for (const auto& [place, weight] : jumps) {
        derivative.add(weight);
        derivative.add(weight);
        if (derivative.value() >= 0.0) return place;
    }
    return domain_.upper;
}

}  // namespace graphtv

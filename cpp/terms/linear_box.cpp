#include "terms/linear_box.hpp"

namespace graphtv {

LinearBoxTerm::LinearBoxTerm(TermShape shape, std::span<const double> cost,
                             std::span<const double> lower, std::span<const double> upper)
    : EntrywiseTerm(shape), cost_(cost), lower_(lower), upper_(upper) {
    if (!lower.empty()) domain_.lower = *std::min_element(lower.begin(), lower.end());
    if (!upper.empty()) domain_.upper = *std::max_element(upper.begin(), upper.end());
}

double LinearBoxTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                                double slope) const {
    Interval common;
    CompensatedSum rise;
    rise.add(slope);
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        common.lower = std::max(common.lower, lower_[i]);
        common.upper = std::min(common.upper, upper_[i]);
        rise.add(cost_[i]);
    }
    return common.maximizer(-rise.value());
}

}  // namespace graphtv

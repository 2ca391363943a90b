#include "terms/quantile.hpp"

#include <algorithm>
#include <vector>

namespace graphtv {

QuantileTerm::QuantileTerm(TermShape shape, std::span<const double> signal,
                           std::span<const double> below, std::span<const double> above,
                           std::optional<Interval> domain)
    : EntrywiseTerm(shape),
      signal_(signal),
      below_(below),
      above_(above),
      domain_(domain ? *domain : signal_range(shape.size(), signal_, above_)) {}

// The derivative is constant between the values of the signal, and jumps there. Bisects the jumps
// by selection: each round halves them, so that the work is linear.
double QuantileTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                               double slope) const {
    struct Jump {
        double place, height;
    };
    std::vector<Jump> jumps;
    jumps.reserve(component.size());
    CompensatedSum derivative;  // below the jumps that are left
    derivative.add(slope);
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        if (!has_data(i)) continue;
        jumps.push_back({signal_[i], below_[i] + above_[i]});
        derivative.add(-below_[i]);
    }
    if (jumps.empty()) return domain_.maximizer(-slope);
    if (derivative.value() > 0.0) return domain_.lower;
    const auto is_left = [](const Jump& a, const Jump& b) { return a.place < b.place; };
    double place = domain_.upper;  // where the derivative is known not to be negative
    for (auto first = jumps.begin(), last = jumps.end(); first != last;) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last, is_left);
        CompensatedSum beyond = derivative;
        for (auto jump = first; jump <= middle; ++jump) beyond.add(jump->height);
        if (beyond.value() >= 0.0) {
            place = middle->place;
            last = middle;
        } else {
            derivative = beyond;
            first = middle + 1;
        }
    }
    return place;
}

}  // namespace graphtv

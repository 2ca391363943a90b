#include "terms/huber.hpp"

namespace graphtv {

HuberTerm::HuberTerm(TermShape shape, std::span<const double> signal,
                     std::span<const double> weights, double delta, std::optional<Interval> domain)
    : EntrywiseTerm(shape),
      signal_(signal),
      weights_(weights),
      domain_(domain ? *domain : signal_range(shape.size(), signal_, weights_)),
      delta_(delta) {}

// Newton's method on the derivative, which is piecewise linear and increasing: it ends on the piece
// that contains the root. A step that leaves the bracket is replaced by a bisection.
double HuberTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                            double slope) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    CompensatedSum mass, moment;
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        if (weights_[i] == 0.0) continue;
        low = std::min(low, signal_[i]);
        high = std::max(high, signal_[i]);
        mass.add(weights_[i]);
        moment.add(weights_[i] * signal_[i]);
    }
    const double total = mass.value();
    if (total == 0.0) return domain_.maximizer(-slope);
    if (std::abs(slope) > total * delta_) return domain_.maximizer(-slope);
    low -= delta_;
    high += delta_;
    double m = Interval{low, high}.clip((moment.value() - slope) / total);
    for (int round = 0; round < 200 && low < high; ++round) {
        CompensatedSum derivative, curvature;
        derivative.add(slope);
        for (const Vertex v : component) {
            const std::size_t i = shape_.entry(v, channel);
            derivative.add(this->derivative(i, m));
            if (std::abs(m - signal_[i]) <= delta_) curvature.add(weights_[i]);
        }
        const double rise = derivative.value();
        if (rise == 0.0) break;
        (rise > 0.0 ? high : low) = m;
        double next = m - rise / curvature.value();  // infinite on a flat piece: bisect
        if (next == m) break;
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (next == low || next == high) break;  // adjacent floating-point numbers
        m = next;
    }
    return domain_.clip(m);
}

}  // namespace graphtv

#include "terms/poisson.hpp"

namespace graphtv {

PoissonTerm::PoissonTerm(TermShape shape, std::span<const double> counts,
                         std::span<const double> weights, double unit,
                         std::optional<Interval> domain)
    : EntrywiseTerm(shape),
      counts_(counts),
      weights_(weights),
      domain_(domain ? *domain : signal_range(shape.size(), counts_, weights_)),
      log_unit_(elementary::log(unit)) {
    // The second derivative c f / u² is least at the upper end of the domain.
    double least = shape.size() > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    for (std::size_t i = 0; i < shape.size(); ++i)
        least = std::min(least, weights_[i] * counts_[i]);
    strong_convexity_ = least > 0.0 ? least / domain_.upper / domain_.upper : 0.0;
}

// Σ c (1 - f/m) + slope = 0.
double PoissonTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                              double slope) const {
    CompensatedSum rate, counts;
    bool data = false;
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        data = data || weights_[i] > 0.0;
        rate.add(weights_[i]);
        counts.add(weights_[i] * counts_[i]);
    }
    rate.add(slope);
    const double fall = counts.value(), rise = rate.value();
    if (!data) return domain_.maximizer(-slope);
    if (rise > 0.0) return domain_.clip(fall / rise);
    return rise == 0.0 && fall == 0.0 ? domain_.nearest_to_zero() : domain_.upper;
}

}  // namespace graphtv

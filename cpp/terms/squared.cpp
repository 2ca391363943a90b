#include "terms/squared.hpp"

#include "parallel/each_cpu.hpp"

namespace graphtv {

SquaredTerm::SquaredTerm(TermShape shape, std::span<const double> signal,
                         std::span<const double> weights, std::optional<Interval> domain)
    : EntrywiseTerm(shape),
      signal_(signal),
      weights_(weights),
      domain_(domain ? *domain : signal_range(shape.size(), signal_, weights_)),
      least_weight_(weights.empty() ? 0.0 : *std::min_element(weights.begin(), weights.end())) {}

namespace {

// A row of a pass over the vertices with data f and weights c. The errors of s are unit · counts +
// floor.
GRAPHTV_FOR_EACH_CPU
void fill(const double* __restrict u, const double* __restrict s, const double* __restrict counts,
          double unit, double floor, const double* __restrict f, const double* __restrict c,
          const double* __restrict inverse, std::size_t length, double* __restrict value,
          double* __restrict conjugate, double* __restrict excess, double* __restrict rounding,
          double* __restrict excess_rounding) {
    for (std::size_t k = 0; k < length; ++k) {
        const double x = u[k], y = s[k], r = x - f[k], q = y / c[k], d = r - q;
        const double error =
            (unit * counts[k] + floor) + 8.0 * unit_roundoff * (std::abs(y) + c[k] * std::abs(r));
        const double reach = error * inverse[k], farthest = std::abs(f[k] + q) + reach;
        value[k] = 0.5 * c[k] * r * r;
        conjugate[k] = y * (f[k] + 0.5 * q);
        excess[k] = product_above(0.5 * c[k] * d, d);
        rounding[k] =
            16.0 * unit_roundoff *
                (value[k] + std::abs(conjugate[k]) + 2.0 * std::abs(y) * (std::abs(x) + farthest)) +
            error * farthest;
        const double away = std::abs(d) + reach + 8.0 * unit_roundoff * (farthest + std::abs(x));
        excess_rounding[k] = product_above(error, away) + formula_error * excess[k];
    }
}

}  // namespace

Tally SquaredTerm::tally(std::span<const double> u, std::span<const double> s, const Errors& errors,
                         int n_threads) const {
    if (!(least_weight_ > 0.0)) return EntrywiseTerm::tally(u, s, errors, n_threads);
    return tally_of(u.size(), n_threads, [&](std::size_t first, std::size_t length, TallyRow& row) {
        TallyRow::Numbers f, c, inverse;
        for (std::size_t k = 0; k < length; ++k) f[k] = signal_[first + k];
        for (std::size_t k = 0; k < length; ++k) c[k] = weights_[first + k];
        if (weights_.is_single())
            std::fill_n(inverse.begin(), length, 1.01 / c[0]);
        else
            for (std::size_t k = 0; k < length; ++k) inverse[k] = 1.01 / c[k];
        fill(&u[first], &s[first], &errors.counts[first], errors.unit, errors.floor, f.data(),
             c.data(), inverse.data(), length, row.value.data(), row.conjugate.data(),
             row.excess.data(), row.rounding.data(), row.excess_rounding.data());
    });
}

// The weighted mean of the data, less slope / mass, computed as a step from one datum. If all data
// are equal, the mean is exact. Otherwise the error is a rounding error of that datum. If the mean is
// much smaller, a second step, from the mean, reduces it to rounding errors of the mean and of the
// mean distance to it.
double SquaredTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                              double slope) const {
    const auto has_data = [&](Vertex v) { return weights_[shape_.entry(v, channel)] > 0.0; };
    const auto first = std::find_if(component.begin(), component.end(), has_data);
    if (first == component.end()) return domain_.maximizer(-slope);
    const auto step_from = [&](double start) {
        CompensatedSum mass, moment;
        for (auto v = first; v != component.end(); ++v) {
            const std::size_t i = shape_.entry(*v, channel);
            const double c = weights_[i];
            if (!(c > 0.0)) continue;
            mass.add(c);
            moment.add(c * (signal_[i] - start));
        }
        moment.add(-slope);
        return start + moment.value() / mass.value();
    };
    const double datum = signal_[shape_.entry(*first, channel)], mean = step_from(datum);
    return std::abs(mean) < 0.5 * std::abs(datum) ? step_from(mean) : mean;
}

}  // namespace graphtv

#include "terms/logistic.hpp"

#include "terms/elementary.hpp"
namespace graphtv {

// φ(x) = x - w - a/(1 + exp(x)) increases with slope at least 1. It is negative at w. Since a/(1 +
// exp(x)) ≤ log(1 + a) from max(w, 0) + log(1 + a) on, it is positive there.
double logistic_prox(double w, double a) {
    double low = w;
    double high = std::min(w + a, std::max(w, 0.0) + elementary::log1p(a));
    // The first step starts from w: it is nearly exact for small a and is clipped for large a.
    const double first = 1.0 / (1.0 + elementary::exp(w));
    double x = std::min(w + a * first / (1.0 + a * first * (1.0 - first)), high);
    for (int round = 0; round < 200; ++round) {
        const double share = 1.0 / (1.0 + elementary::exp(x));
        const double rise = x - w - a * share;
        if (rise == 0.0) break;
        (rise > 0.0 ? high : low) = x;
        double next = x - rise / (1.0 + a * share * (1.0 - share));
        // |φ''| ≤ φ', so that the next error is at most the square of this step.
        if (std::abs(next - x) <= 1e-8 * std::min(1.0, std::abs(x))) return next;
        if (!(next > low && next < high)) next = low + 0.5 * (high - low);
        if (next == low || next == high) break;  // adjacent floating-point numbers
        x = next;
    }
    return x;
}

LogisticTerm::LogisticTerm(TermShape shape, std::span<const double> labels,
                           std::span<const double> weights, Interval domain)
    : EntrywiseTerm(shape), labels_(labels), weights_(weights), domain_(domain) {
    // The second derivative c σ (1 - σ) is least where |u| is greatest.
    double least = shape.size() > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    for (std::size_t i = 0; i < shape.size(); ++i) least = std::min(least, weight(i));
    const double farthest =
        elementary::exp(-std::max(std::abs(domain.lower), std::abs(domain.upper)));
    strong_convexity_ = least * farthest / ((1.0 + farthest) * (1.0 + farthest));
}

// With W± the weights of the labels ±1: -W₊(1 - σ(m)) + W₋σ(m) + slope = 0, σ(m) = 1/(1 + exp(-m)).
double LogisticTerm::minimizer(std::span<const Vertex> component, std::size_t channel,
                               double slope) const {
    CompensatedSum positive, negative;
    for (const Vertex v : component) {
        const std::size_t i = shape_.entry(v, channel);
        if (labels_[i] > 0.0) positive.add(weights_[i]);
        if (labels_[i] < 0.0) negative.add(weights_[i]);
    }
    positive.add(-slope);
    negative.add(slope);
    const double rise = positive.value(), fall = negative.value();
    if (rise <= 0.0 && fall <= 0.0) return domain_.nearest_to_zero();
    if (rise <= 0.0) return domain_.lower;
    if (fall <= 0.0) return domain_.upper;
    return domain_.clip(elementary::log(rise / fall));
}

}  // namespace graphtv

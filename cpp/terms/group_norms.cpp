#include "terms/group_norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "terms/divergence.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

// The square of a number as a sum of two (Dekker's product), for |a| ≤ 2⁵⁰⁰.
inline std::pair<double, double> exact_square(double a) {
    const double scaled = 134217729.0 * a, high = scaled - (scaled - a), low = a - high;
    const double square = a * a;
    return {square, ((high * high - square) + 2.0 * high * low) + low * low};
}

// 1 - Σ p², in twice the precision; negative if some p is NaN or far outside.
class Slack {
  public:
    Slack() { sum_.add(1.0); }
    void take(double p) {
        is_inside_ &= std::abs(p) <= 1.0;
        const auto [square, rest] = exact_square(p);
        sum_.add(-square);
        sum_.add(-rest);
    }
    double value() const { return is_inside_ ? sum_.value() : -1.0; }

  private:
    CompensatedSum sum_;
    bool is_inside_ = true;
};

// The relative error of a norm of this many entries, each a product of a weight and a difference,
// and of a few operations with it.
inline double norm_error(std::size_t size) {
    return (16.0 + static_cast<double>(size)) * unit_roundoff;
}

// Sums of squares in this range are accurate: they neither overflow nor lose digits to underflow.
constexpr double least_square = 1e-200, greatest_square = 1e200;

// √Σ x²; each(body) calls body(x) for every entry.
template <class Each>
double norm_of(const Each& each) {
    double sum = 0.0;
    each([&](double x) { sum += x * x; });
    if (sum >= least_square && sum <= greatest_square) return std::sqrt(sum);
    double largest = 0.0;
    each([&](double x) { largest = std::abs(x) <= largest ? largest : std::abs(x); });
    if (!(largest > 0.0) || std::isinf(largest)) return largest;  // or NaN
    sum = 0.0;
    each([&](double x) { sum += (x / largest) * (x / largest); });
    return largest * std::sqrt(sum);
}

}  // namespace

GroupNorms::GroupNorms(std::size_t n_edges, std::vector<std::int32_t> edge_groups, bool couples,
                       double delta)
    : n_edges_(n_edges), edge_groups_(std::move(edge_groups)), couples_(couples), h_{delta} {
    if (edge_groups_.empty()) return;
    // A counting sort. The counts are shifted by two places, so that after filling starts_[g] is
    // the start of g.
    starts_.resize(at(*std::ranges::max_element(edge_groups_)) + 3);
    for (const auto g : edge_groups_) ++starts_[at(g) + 2];
    largest_ = at(*std::ranges::max_element(starts_));
    for (std::size_t g = 2; g < starts_.size(); ++g) starts_[g] += starts_[g - 1];
    edges_.resize(n_edges);
    for (std::size_t e = 0; e < n_edges; ++e)
        edges_[at(starts_[at(edge_groups_[e]) + 1]++)] = static_cast<EdgeIndex>(e);
    starts_.pop_back();
}

GroupNorms::Group GroupNorms::group(std::size_t g, std::size_t channel,
                                    std::size_t n_channels) const {
    const std::size_t offset = channel * n_edges_;
    if (starts_.empty()) return {nullptr, offset + g, 1, n_channels, n_edges_};
    const auto begin = at(starts_[g]), end = at(starts_[g + 1]);
    return {edges_.data() + begin, offset, end - begin, n_channels, n_edges_};
}

template <class Body>
void GroupNorms::for_each_group(std::size_t size, int n_threads, const Body& body) const {
    if (n_edges_ == 0) return;
    for_each_part(size / n_edges_, [&](std::size_t channel, std::size_t n_channels) {
        for_shards(n_groups(), n_threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t g = first; g < last; ++g) body(group(g, channel, n_channels));
        });
    });
}

double GroupNorms::value(const EdgeList& graph, std::span<const double> weights,
                         std::span<const double> u, int n_threads) const {
    const std::size_t n = at(graph.n_vertices);
    CompensatedSum total;
    if (n == 0) return 0.0;
    for_each_part(u.size() / n, [&](std::size_t channel, std::size_t n_channels) {
        total.add(sum_of(n_groups(), n_threads, [&](std::size_t g) {
            const Group here = group(g, channel, n_channels);
            return h_.value(norm_of([&](const auto& take) {
                here.for_each([&](std::size_t e, std::size_t c, std::size_t) {
                    const double* v = u.data() + (channel + c) * n;
                    const auto [tail, head] = graph.edges[e];
                    take(weights[e] * (v[tail] - v[head]));
                });
            }));
        }));
    });
    return total.value();
}

template <class Real>
double GroupNorms::conjugate_of(std::span<const Real> p, int n_threads) const {
    CompensatedSum total;
    if (n_edges_ == 0) return 0.0;
    for_each_part(p.size() / n_edges_, [&](std::size_t channel, std::size_t n_channels) {
        total.add(sum_of(n_groups(), n_threads, [&](std::size_t g) {
            Slack slack;
            double squares = 0.0;
            group(g, channel, n_channels).for_each([&](std::size_t, std::size_t, std::size_t i) {
                const double here = value_of(p[i]);
                slack.take(here);
                squares += here * here;
            });
            return slack.value() >= 0.0 ? 0.5 * h_.delta * squares
                                        : std::numeric_limits<double>::infinity();
        }));
    });
    return total.value();
}

double GroupNorms::conjugate(std::span<const double> p, int n_threads) const {
    return conjugate_of(p, n_threads);
}
double GroupNorms::conjugate(std::span<const Rounded> p, int n_threads) const {
    return conjugate_of(p, n_threads);
}

template <class Real>
Tally GroupNorms::tally_of_groups(const EdgeList& graph, std::span<const double> weights,
                                  std::span<const double> u, std::span<const Real> p,
                                  int n_threads) const {
    const std::size_t n = at(graph.n_vertices);
    const double delta = h_.delta, infinite = std::numeric_limits<double>::infinity();
    Tally total;
    if (n == 0) return total;
    const auto fill_group = [&](const Group& here, std::size_t channel, TallyRow& row,
                                std::size_t k) {
        const auto difference = [&](std::size_t e, std::size_t c) {
            const double* v = u.data() + (channel + c) * n;
            const auto [tail, head] = graph.edges[e];
            return weights[e] * (v[tail] - v[head]);
        };
        Slack slack;
        double squares = 0.0;
        here.for_each([&](std::size_t, std::size_t, std::size_t i) {
            const double q = value_of(p[i]);
            slack.take(q);
            squares += q * q;
        });
        const double norm = norm_of([&](const auto& take) {
            here.for_each(
                [&](std::size_t e, std::size_t c, std::size_t) { take(difference(e, c)); });
        });
        const double error = norm_error(here.size()), rest = slack.value();
        row.value[k] = h_.value(norm);
        row.conjugate[k] = rest >= 0.0 ? 0.5 * delta * squares : infinite;
        row.rounding[k] = error * (row.value[k] + row.conjugate[k]);
        // ‖p - x/N‖² with N = max(‖x‖, δ).
        const double length = std::max(norm, delta);
        double distance = 0.0;
        if (length > 0.0)
            here.for_each([&](std::size_t e, std::size_t c, std::size_t i) {
                const double d = value_of(p[i]) - difference(e, c) / length;
                distance += d * d;
            });
        const double beyond = norm > delta ? 0.5 * (norm - delta) * std::max(rest, 0.0) : 0.0;
        row.excess[k] = 0.5 * length * distance + beyond;
        // The vector p - x/N has an error of at most `error` in the norm.
        const double of_distance = 2.0 * std::sqrt(distance) * error + error * error;
        row.excess_rounding[k] = 0.0;
        if (length > 0.0)
            row.excess_rounding[k] = 0.5 * length * (of_distance + 0x1p-100) +
                                     error * norm * std::max(rest, 0.0) +
                                     formula_error * row.excess[k] + underflow_floor;
        if (rest < 0.0) row.excess[k] = infinite;
    };
    for_each_part(u.size() / n, [&](std::size_t channel, std::size_t n_channels) {
        total.add(tally_of(
            n_groups(), n_threads, [&](std::size_t first, std::size_t length, TallyRow& row) {
                for (std::size_t k = 0; k < length; ++k)
                    fill_group(group(first + k, channel, n_channels), channel, row, k);
            }));
    });
    return total;
}

Tally GroupNorms::tally(const EdgeList& graph, std::span<const double> weights,
                        std::span<const double> u, std::span<const double> p, int n_threads) const {
    return tally_of_groups(graph, weights, u, p, n_threads);
}
Tally GroupNorms::tally(const EdgeList& graph, std::span<const double> weights,
                        std::span<const double> u, std::span<const Rounded> p,
                        int n_threads) const {
    return tally_of_groups(graph, weights, u, p, n_threads);
}

void GroupNorms::project(std::span<double> p, int n_threads) const {
    for_each_group(p.size(), n_threads, [&](const Group& here) {
        const auto for_each_entry = [&](const auto& body) {
            here.for_each([&](std::size_t, std::size_t, std::size_t i) { body(p[i]); });
        };
        double squares = 0.0;
        for_each_entry([&](double x) { squares += x * x; });
        if (squares <= 1.0 - 2.0 * norm_error(here.size())) return;  // for most groups
        Slack slack;
        for_each_entry([&](double x) { slack.take(x); });
        if (slack.value() >= 0.0) return;
        double norm = norm_of(for_each_entry);
        if (std::isinf(norm)) {  // infinite entries point the way
            for_each_entry([](double& x) { x = std::isinf(x) ? std::copysign(1.0, x) : 0.0; });
            norm = norm_of(for_each_entry);
        }
        const double factor = (1.0 - norm_error(here.size())) / norm;
        for_each_entry([=](double& x) { x *= factor; });
    });
}

void GroupNorms::prox_conjugate(std::span<const double> v, std::span<const double> steps,
                                std::span<double> out, int n_threads) const {
    const double delta = h_.delta;
    for_each_group(v.size(), n_threads, [&](const Group& here) {
        double squares = 0.0;
        here.for_each([&](std::size_t e, std::size_t, std::size_t i) {
            const double step = steps.size() == 1 ? steps[0] : steps[e];
            out[i] = delta > 0.0 ? v[i] / (1.0 + delta * step) : v[i];
            squares += out[i] * out[i];
        });
        const double error = norm_error(here.size());
        if (squares <= 1.0 - 2.0 * error) return;
        const double norm = squares <= greatest_square ? std::sqrt(squares) : [&] {
            return norm_of([&](const auto& take) {
                here.for_each([&](std::size_t, std::size_t, std::size_t i) { take(out[i]); });
            });
        }();
        const double factor = (1.0 - error) / norm;
        here.for_each([&](std::size_t, std::size_t, std::size_t i) { out[i] *= factor; });
    });
}

}  // namespace graphtv

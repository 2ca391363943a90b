#include "terms/group_norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "graph/edge_run.hpp"
#include "terms/group_error.hpp"
#include "terms/group_rows.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

// The square of a number as a sum of two (Dekker's product), for |a| ≤ 2⁵⁰⁰.
inline std::pair<double, double> exact_square(double a) {
    const double scaled = 134217729.0 * a, high = scaled - (scaled - a), low = a - high;
    const double square = a * a;
    return {square, ((high * high - square) + 2.0 * high * low) + low * low};
}

// Runs of at least so many groups are vectorised.
constexpr std::size_t shortest_run = 8;

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
    find_runs();
}

GroupNorms::Group GroupNorms::group(std::size_t g, std::size_t channel,
                                    std::size_t n_channels) const {
    const std::size_t offset = channel * n_edges_;
    if (starts_.empty()) return {nullptr, offset + g, 1, n_channels, n_edges_};
    const auto begin = at(starts_[g]), end = at(starts_[g + 1]);
    return {edges_.data() + begin, offset, end - begin, n_channels, n_edges_};
}

// Finds the runs of groups. They are not used if most of them are short.
void GroupNorms::find_runs() {
    const std::size_t most_runs = n_groups() / shortest_run + 1;
    for (std::size_t first = 0; first < n_groups() && runs_.size() <= most_runs;) {
        const auto begin = at(starts_[first]), size = at(starts_[first + 1]) - begin;
        Run run{first, 1, size, {}};
        if (size <= most_edges) {
            for (std::size_t k = 0; k < size; ++k) run.edges[k] = at(edges_[begin + k]);
            const auto goes_on = [&](std::size_t i) {
                bool goes = at(starts_[first + i + 1]) - begin == (i + 1) * size;
                for (std::size_t k = 0; k < size && goes; ++k)
                    goes = at(edges_[begin + i * size + k]) == run.edges[k] + i;
                return goes;
            };
            while (first + run.length < n_groups() && goes_on(run.length)) ++run.length;
        }
        runs_.push_back(run);
        first += run.length;
    }
    if (runs_.size() > most_runs) runs_ = {};
}

// The run of groups from `first` on, at most `most` of them.
GroupNorms::Run GroupNorms::run_of(std::size_t first, std::size_t most) const {
    if (starts_.empty()) return {first, most, 1, {first}};
    if (runs_.empty()) return {first, 1, 0, {}};
    const auto next = std::ranges::upper_bound(runs_, first, {}, &Run::first);
    Run run = *std::prev(next);
    const std::size_t skipped = first - run.first;
    for (auto& edge : run.edges) edge += skipped;
    run.length = run.n_edges > most_edges ? 1 : std::min(run.length - skipped, most);
    run.first = first;
    return run;
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

// How many groups of a run have edges between consecutive vertices.
std::size_t GroupNorms::length_along(const EdgeList& graph, const Run& run) {
    std::size_t length = run.length;
    for (std::size_t k = 0; k < run.n_edges && length > 1; ++k)
        length = std::min(length, length_of_run(graph.edges.subspan(run.edges[k], length)));
    return length;
}

// Fills a row for a run of groups, from the index `at_row` on. Their edges join consecutive vertices if
// `is_line`; otherwise the values of u are gathered. Returns false if this would not be
// accurate enough.
template <class Real>
bool GroupNorms::fill_run(const EdgeList& graph, std::span<const double> weights,
                          std::span<const double> u, std::span<const Real> p,
                          const Channels& channels, const Run& run, bool is_line,
                          std::size_t at_row, TallyRow& row) const {
    const std::size_t n = at(graph.n_vertices), size = run.n_edges * channels.count;
    GroupSums sums;
    TallyRow::Numbers numbers, tails, heads;
    const auto for_each_entry = [&](const auto& body) {
        for (std::size_t c = channels.first; c < channels.first + channels.count; ++c)
            for (std::size_t k = 0; k < run.n_edges; ++k) {
                const std::size_t e = run.edges[k];
                const auto [tail, head] = graph.edges[e];
                const double *here = nullptr, *v = u.data() + c * n;
                if constexpr (std::is_same_v<Real, double>) {
                    here = p.data() + c * n_edges_ + e;
                } else {
                    for (std::size_t i = 0; i < run.length; ++i)
                        numbers[i] = value_of(p[c * n_edges_ + e + i]);
                    here = numbers.data();
                }
                if (is_line) {
                    body(GroupEntries{here, weights.data() + e, v + tail, v + head});
                    continue;
                }
                for (std::size_t i = 0; i < run.length; ++i) {
                    tails[i] = v[graph.edges[e + i].tail];
                    heads[i] = v[graph.edges[e + i].head];
                }
                body(GroupEntries{here, weights.data() + e, tails.data(), heads.data()});
            }
    };
    clear(sums, run.length);
    for_each_entry([&](const GroupEntries& x) { add_squares(x, run.length, sums); });
    if (!set_norms(size, h_.delta, run.length, sums)) return false;
    for_each_entry([&](const GroupEntries& x) { add_distance(x, run.length, sums); });
    return fill_row(sums, size, h_.delta, at_row, run.length, row);
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
                for (std::size_t k = 0; k < length;) {
                    Run run = run_of(first + k, length - k);
                    const std::size_t along = length_along(graph, run);
                    const bool is_line = along >= std::min(run.length, shortest_run);
                    if (is_line) run.length = along;
                    if (run.length < shortest_run ||
                        !fill_run(graph, weights, u, p, {channel, n_channels}, run, is_line, k,
                                  row)) {
                        for (std::size_t i = k; i < k + run.length; ++i)
                            fill_group(group(first + i, channel, n_channels), channel, row, i);
                    }
                    k += run.length;
                }
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

// Scales a group to its ball if it is outside.
void GroupNorms::project_group(const Group& here, std::span<double> p) {
    const auto for_each_entry = [&](const auto& body) {
        here.for_each([&](std::size_t, std::size_t, std::size_t i) { body(p[i]); });
    };
    double squares = 0.0;
    for_each_entry([&](double x) { squares += x * x; });
    if (squares <= 1.0 - 2.0 * norm_error(here.size())) return;
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
}

void GroupNorms::project(std::span<double> p, int n_threads) const {
    if (n_edges_ == 0) return;
    const auto project_run = [&](const Run& run, const Channels& channels) {
        TallyRow::Numbers squares, factors;
        const std::size_t size = run.n_edges * channels.count;
        const auto for_each_entry = [&](const auto& body) {
            for (std::size_t c = channels.first; c < channels.first + channels.count; ++c)
                for (std::size_t k = 0; k < run.n_edges; ++k)
                    body(p.data() + c * n_edges_ + run.edges[k]);
        };
        std::fill_n(squares.begin(), run.length, 0.0);
        for_each_entry([&](const double* x) { add_squares(x, run.length, squares.data()); });
        if (!set_factors(squares.data(), size, run.length, factors.data()))
            for (std::size_t i = 0; i < run.length; ++i)
                if (std::isnan(factors[i])) {
                    project_group(group(run.first + i, channels.first, channels.count), p);
                    factors[i] = 1.0;
                }
        for_each_entry([&](double* x) { scale(x, run.length, factors.data()); });
    };
    for_each_part(p.size() / n_edges_, [&](std::size_t channel, std::size_t n_channels) {
        for_shards(n_groups(), n_threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t g = first; g < last;) {
                const Run run = run_of(g, std::min(last - g, TallyRow::most));
                if (run.length >= shortest_run)
                    project_run(run, {channel, n_channels});
                else
                    for (std::size_t i = g; i < g + run.length; ++i)
                        project_group(group(i, channel, n_channels), p);
                g += run.length;
            }
        });
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

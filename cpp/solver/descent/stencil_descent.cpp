#include "solver/descent/stencil_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "solver/descent/matching.hpp"
#include "solver/descent/single.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr std::size_t most_families = 16;
constexpr std::size_t shortest_block = 16;  // of a family other than that of offset 1
constexpr double least_share = 0.6;         // of the edges (i, i + k) that exist

// As in Lattice.
constexpr int longest_drift = 16;

std::size_t offset_of(Edge edge) { return at(std::abs(edge.head - edge.tail)); }

// The offsets of all edges in order of size; empty if there are too many.
std::vector<std::size_t> offsets_of(std::span<const Edge> edges) {
    std::vector<std::size_t> found;
    std::size_t last = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const std::size_t offset = offset_of(edges[e]);
        if (offset == last || std::ranges::find(found, offset) != found.end()) continue;
        if (found.size() == most_families) return {};
        found.push_back(last = offset);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

bool StencilDescent::applies(const EdgeList& graph) {
    const auto offsets = offsets_of(graph.edges);
    if (offsets.empty()) return false;
    std::size_t n_places = 0;
    for (const std::size_t offset : offsets) {
        if (offset != 1 && offset < shortest_block) return false;
        n_places += at(graph.n_vertices) - offset;
    }
    return static_cast<double>(graph.edges.size()) >= least_share * static_cast<double>(n_places);
}

StencilDescent::StencilDescent(const EdgeList& graph, std::span<const double> weights,
                               std::span<const double> signal,
                               std::span<const double> vertex_weights)
    : graph_(graph),
      weights_(weights),
      f_(signal),
      c_(vertex_weights),
      n_even_((signal.size() + 1) / 2),
      g_(signal.size()),
      u_(signal.size()),
      r_(signal.size()),
      momentum_({}) {
    const auto [least, most] = range_of(f_);
    centre_ = 0.5 * least + 0.5 * most;
    range_ = most > least ? most - centre_ : 1.0;
    const double heaviest = c_.empty() ? 1.0 : range_of(c_).second;
    unit_ = range_ * heaviest;
    for (const std::size_t offset : offsets_of(graph.edges)) {
        Watched::look();
        families_.push_back(
            {offset, std::vector<float>(n()), std::vector<float>(n()), std::vector<float>(n())});
    }
    for_each_edge([&](std::size_t e, std::size_t family, std::size_t place, double) {
        families_[family].capacity[place] = single(weights_[e] / unit_);
    });
    for (std::size_t i = 0; i < n(); ++i) g_[i] = static_cast<float>((f_[i] - centre_) / range_);
    inverse_.reserve(c_.size());
    for (const double c : c_) inverse_.push_back(single(heaviest / c));
}

// Calls body(edge, family, place of its lower end, sign) for all edges. The sign is 1 if the edge
// points upwards.
template <class Body>
void StencilDescent::for_each_edge(const Body& body) const {
    std::size_t family = 0;  // of the last edge; usually also of the next one
    for_watched(graph_.edges.size(), [&](std::size_t e) {
        const auto [tail, head] = graph_.edges[e];
        const std::size_t offset = offset_of(graph_.edges[e]), lower = at(std::min(tail, head));
        while (families_[family].offset != offset) family = (family + 1) % families_.size();
        const std::size_t place = offset > 1 ? lower : lower / 2 + (lower % 2) * n_even_;
        body(e, family, place, tail < head ? 1.0 : -1.0);
    });
}

// Calls put(edge, p), |p| ≤ 1.
template <class Put>
void StencilDescent::for_each_ratio(const Put& put) const {
    for_each_edge([&](std::size_t e, std::size_t family, std::size_t place, double sign) {
        const double flow = families_[family].x[place], most = families_[family].capacity[place];
        put(e, most > 0.0 ? sign * std::clamp(flow / most, -1.0, 1.0) : 0.0);
    });
}

void StencilDescent::start_from(std::span<const double> p) {
    for_each_edge([&](std::size_t e, std::size_t family, std::size_t place, double sign) {
        Family& own = families_[family];
        own.x[place] = static_cast<float>(sign * p[e]) * own.capacity[place];
    });
    restart();
}

void StencilDescent::restart() {
    apply(&Family::x, u_);
    forget_momentum();
    momentum_.start();
    drift_ = 0;
    is_torn_ = false;
}

void StencilDescent::forget_momentum() {
    for (Family& family : families_) family.y = family.x;
    r_ = u_;
}

void StencilDescent::settle() {
    if (is_torn_) {
        restart();
    } else if (drift_ >= longest_drift) {
        apply(&Family::x, u_);
        apply(&Family::y, r_);
        drift_ = 0;
    }
}

// out = g - C⁻¹∇ᵀflow.
void StencilDescent::apply(std::vector<float> Family::* flow, std::vector<float>& out) const {
    std::ranges::fill(out, 0.0F);
    for (const Family& family : families_) {
        const float* x = (family.*flow).data();
        if (family.offset == 1) {
            for (std::size_t i = 0; i + 1 < n(); ++i) {
                const float along = x[i / 2 + (i % 2) * n_even_];
                out[i] += along;
                out[i + 1] -= along;
            }
        } else {
            float *lower = out.data(), *upper = out.data() + family.offset;
            const std::size_t size = n() - family.offset;
            for (std::size_t i = 0; i < size; ++i) lower[i] += x[i];
            for (std::size_t i = 0; i < size; ++i) upper[i] -= x[i];
        }
    }
    for (std::size_t i = 0; i < n(); ++i)
        out[i] = g_[i] - (inverse_.empty() ? out[i] : inverse_[i] * out[i]);
}

int StencilDescent::step(Watch& watch, int, int at_most) {
    settle();
    const int n_iterations = std::min(at_most, longest_step);
    for (int t = 0; t < n_iterations; ++t) {
        momentum_.advance();
        const auto beta = static_cast<float>(momentum_.beta());
        if (!sweep(beta, watch)) {
            is_torn_ = true;
            return 0;
        }
        extrapolate(r_.data(), u_.data(), n(), beta);
    }
    drift_ += n_iterations;
    if (momentum_.restarts(0.0, energy(u_.data(), inverses(), n()))) forget_momentum();
    return n_iterations;
}

bool StencilDescent::sweep(float beta, Watch& watch) {
    float* r = r_.data();
    const float* inverse = inverses();
    for (auto& [offset, x, y, capacity] : families_) {
        if (watch.expired()) return false;
        for (std::size_t parity = 0; parity < 2; ++parity) {
            if (offset == 1) {
                const std::size_t first = parity * n_even_;
                move_pairs(r + parity, inverse == nullptr ? nullptr : inverse + parity,
                           &capacity[0] + first, &x[0] + first, &y[0] + first, (n() - parity) / 2,
                           beta);
                continue;
            }
            const std::size_t end = n() - offset;
            for (std::size_t i = parity * offset; i < end; i += 2 * offset) {
                move({r + i, r + i + offset, inverse == nullptr ? nullptr : inverse + i,
                      inverse == nullptr ? nullptr : inverse + i + offset, &capacity[i], &x[i],
                      &y[i], std::min(offset, end - i)},
                     beta);
            }
        }
    }
    return true;
}

void StencilDescent::u(std::span<double> out) const {
    std::ranges::copy(f_, out.begin());
    for_each_ratio([&](std::size_t e, double p) {
        const auto i = at(graph_.edges[e].tail), j = at(graph_.edges[e].head);
        const double flow = weights_[e] * p;
        out[i] -= c_.empty() ? flow : flow / c_[i];
        out[j] += c_.empty() ? flow : flow / c_[j];
    });
}

void StencilDescent::dual(std::span<double> p, int) const {
    for_each_ratio([&](std::size_t e, double value) { p[e] = value; });
}

void StencilDescent::rounded_dual(std::span<Rounded> p, int) const {
    for_each_ratio([&](std::size_t e, double value) { p[e] = rounded(value); });
}

double StencilDescent::primal_value() {
    settle();
    double sum = squared_distance(u_.data(), g_.data(), inverses(), n());
    for (const auto& [offset, x, y, capacity] : families_) {
        if (offset == 1) {
            for (std::size_t i = 0; i + 1 < n(); ++i)
                sum += static_cast<double>(capacity[i / 2 + (i % 2) * n_even_] *
                                           std::abs(u_[i] - u_[i + 1]));
        } else {
            sum += variation(u_.data(), u_.data() + offset, capacity.data(), n() - offset);
        }
    }
    return unit_ * range_ * sum;
}

// Flows do not change the total of u, so g² - u² may be computed about any centre.
double StencilDescent::dual_value() {
    settle();
    return unit_ * range_ * difference_of_squares(g_.data(), u_.data(), inverses(), n());
}

}  // namespace graphtv

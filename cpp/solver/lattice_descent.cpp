#include "solver/lattice_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "solver/lattice_pyramid.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

// Ratios of the data beyond this do not show in single precision; it keeps them finite.
constexpr double largest = 1e30;

std::size_t at(Vertex v) { return static_cast<std::size_t>(v); }

float single(double value) {
    return static_cast<float>(std::min(std::max(value, -largest), largest));
}

}  // namespace

LatticeDescent::LatticeDescent(std::span<const Vertex> shape, const EdgeList& graph,
                               std::span<const double> weights, std::span<const double> signal,
                               std::span<const double> vertex_weights)
    : graph_(graph),
      weights_(weights),
      f_(signal),
      c_(vertex_weights),
      lattice_(shape, !vertex_weights.empty()) {
    const auto [least, most] = std::minmax_element(f_.begin(), f_.end());
    centre_ = 0.5 * *least + 0.5 * *most;
    range_ = *most > *least ? *most - centre_ : 1.0;
    const double heaviest = c_.empty() ? 1.0 : *std::max_element(c_.begin(), c_.end());
    unit_ = range_ * heaviest;

    for_each_edge([&](std::size_t e, std::size_t axis, std::size_t lower) {
        lattice_.axes()[axis].capacity[lower] = single(weights_[e] / unit_);
    });
    const std::size_t width = lattice_.width();
    for (std::size_t line = 0; line < f_.size(); line += width) {
        for (std::size_t column = 0; column < width; ++column) {
            const std::size_t v = line + column, i = lattice_.place(line, column);
            lattice_.g()[i] = static_cast<float>((f_[v] - centre_) / range_);
            if (!c_.empty()) lattice_.inverse()[i] = single(heaviest / c_[v]);
        }
    }
    lattice_.restart(1);
}

// body(edge, axis, place of the lower end) for the edges in [first, last).
template <class Body>
void LatticeDescent::for_each_edge(std::size_t first, std::size_t last, const Body& body) const {
    const auto& axes = lattice_.axes();
    const std::size_t width = lattice_.width();
    std::size_t axis = 0, line = 0;  // of the last edge: as a rule the next one's too
    for (std::size_t e = first; e < last; ++e) {
        const auto [tail, head] = graph_.edges[e];
        const std::size_t vertex = at(std::min(tail, head)), stride = at(std::abs(head - tail));
        while (axes[axis].stride != stride) axis = (axis + 1) % axes.size();
        if (vertex < line || vertex - line >= width) line = vertex - vertex % width;
        body(e, axis, lattice_.place(line, vertex - line));
    }
}

// The same for all edges, one after the other.
template <class Body>
void LatticeDescent::for_each_edge(const Body& body) const {
    for_shards(weights_.size(), 1,
               [&](std::size_t first, std::size_t last) { for_each_edge(first, last, body); });
}

void LatticeDescent::start_from(std::span<const double> p) {
    for_each_edge([&](std::size_t e, std::size_t a, std::size_t lower) {
        auto& axis = lattice_.axes()[a];
        axis.x[lower] = static_cast<float>(sign(e) * p[e]) * axis.capacity[lower];
    });
    lattice_.restart(1);
}

bool LatticeDescent::start_from_coarse(Watch& watch, int n_threads) {
    return graphtv::start_from_coarse(lattice_, watch, n_threads);
}

void LatticeDescent::u(std::span<double> out) const {
    std::copy(f_.begin(), f_.end(), out.begin());
    for_each_edge([&](std::size_t e, std::size_t axis, std::size_t lower) {
        const auto [tail, head] = graph_.edges[e];
        const double flow = weights_[e] * ratio(e, axis, lower);
        out[at(tail)] -= c_.empty() ? flow : flow / c_[at(tail)];
        out[at(head)] += c_.empty() ? flow : flow / c_[at(head)];
    });
}

void LatticeDescent::dual(std::span<double> p, int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for_each_edge(first, last, [&](std::size_t e, std::size_t axis, std::size_t lower) {
            p[e] = ratio(e, axis, lower);
        });
    });
}

void LatticeDescent::rounded_dual(std::span<Rounded> p, int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for_each_edge(first, last, [&](std::size_t e, std::size_t axis, std::size_t lower) {
            p[e] = rounded(ratio(e, axis, lower));
        });
    });
}

// p of an edge.
double LatticeDescent::ratio(std::size_t e, std::size_t axis, std::size_t lower) const {
    const double capacity = lattice_.axes()[axis].capacity[lower];
    const double flow = lattice_.axes()[axis].x[lower];
    return capacity > 0.0 ? sign(e) * std::clamp(flow / capacity, -1.0, 1.0) : 0.0;
}

}  // namespace graphtv

#include "solver/descent/lattice_descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solver/descent/lattice_pyramid.hpp"
#include "solver/descent/single.hpp"

namespace graphtv {

LatticeDescent::LatticeDescent(std::span<const Vertex> shape, const EdgeList& graph,
                               std::span<const double> weights, std::span<const double> signal,
                               std::span<const double> vertex_weights)
    : graph_(graph),
      weights_(weights),
      f_(signal),
      c_(vertex_weights),
      layout_(shape, 2),
      lattice_(shape, !vertex_weights.empty()) {
    const auto [least, most] = range_of(f_);
    centre_ = 0.5 * least + 0.5 * most;
    range_ = most > least ? most - centre_ : 1.0;
    const double heaviest = c_.empty() ? 1.0 : range_of(c_).second;
    unit_ = range_ * heaviest;

    layout_.for_each_run(graph_.edges, 1, [&](const Run& run) {
        auto& capacity = lattice_.axes()[run.axis].capacity;
        layout_.for_each_place(run.line, run.column, run.size, [&](std::size_t k, std::size_t i) {
            capacity[i] = single(weights_[run.edge + k] / unit_);
        });
    });
    for (std::size_t line = 0; line < f_.size(); line += lattice_.width()) {
        layout_.for_each_place(line, 0, lattice_.width(), [&](std::size_t k, std::size_t i) {
            lattice_.g()[i] = static_cast<float>((f_[line + k] - centre_) / range_);
            if (!c_.empty()) lattice_.inverse()[i] = single(heaviest / c_[line + k]);
        });
    }
}

// Calls body(k, flow / capacity) for the edges of a run, with ratios in [-1, 1].
template <class Body>
void LatticeDescent::for_each_ratio(const Run& run, const Body& body) const {
    const auto& [stride, length, x, y, capacity] = lattice_.axes()[run.axis];
    layout_.for_each_place(run.line, run.column, run.size, [&](std::size_t k, std::size_t i) {
        const double flow = x[i], most = capacity[i];
        body(k, most > 0.0 ? std::clamp(flow / most, -1.0, 1.0) : 0.0);
    });
}

void LatticeDescent::start_from(std::span<const double> p) {
    layout_.for_each_run(graph_.edges, 1, [&](const Run& run) {
        auto& axis = lattice_.axes()[run.axis];
        layout_.for_each_place(run.line, run.column, run.size, [&](std::size_t k, std::size_t i) {
            axis.x[i] = static_cast<float>(run.sign * p[run.edge + k]) * axis.capacity[i];
        });
    });
    lattice_.restart(1);
}

bool LatticeDescent::start_from_coarse(Watch& watch, int n_threads) {
    return graphtv::start_from_coarse(lattice_, watch, n_threads);
}

void LatticeDescent::u(std::span<double> out) const {
    std::copy(f_.begin(), f_.end(), out.begin());
    layout_.for_each_run(graph_.edges, 1, [&](const Run& run) {
        std::array<double, longest_run> flow;
        for_each_ratio(
            run, [&](std::size_t k, double ratio) { flow[k] = weights_[run.edge + k] * ratio; });
        const std::size_t lower = run.line + run.column;
        const std::size_t upper = lower + lattice_.axes()[run.axis].stride;
        for (std::size_t k = 0; k < run.size; ++k)
            out[lower + k] -= c_.empty() ? flow[k] : flow[k] / c_[lower + k];
        for (std::size_t k = 0; k < run.size; ++k)
            out[upper + k] += c_.empty() ? flow[k] : flow[k] / c_[upper + k];
    });
}

void LatticeDescent::dual(std::span<double> p, int n_threads) const {
    layout_.for_each_run(graph_.edges, n_threads, [&](const Run& run) {
        for_each_ratio(run,
                       [&](std::size_t k, double ratio) { p[run.edge + k] = run.sign * ratio; });
    });
}

void LatticeDescent::rounded_dual(std::span<Rounded> p, int n_threads) const {
    layout_.for_each_run(graph_.edges, n_threads, [&](const Run& run) {
        for_each_ratio(
            run, [&](std::size_t k, double ratio) { p[run.edge + k] = rounded(run.sign * ratio); });
    });
}

}  // namespace graphtv

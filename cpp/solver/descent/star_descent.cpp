#include "solver/descent/star_descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solver/descent/single.hpp"

namespace graphtv {

namespace {

// Weights and their inverses beyond this, in units of the range of the data, have no effect. Its cube
// is finite.
template <class Real>
constexpr double largest = sizeof(Real) == sizeof(float) ? 1e10 : 1e60;

bool has_gaps(std::span<const Vertex> shape, std::size_t n_edges) {
    std::size_t n = 1, all = 0;
    for (const Vertex length : shape) n *= at(length);
    for (const Vertex length : shape) all += n / at(length) * at(length - 1);
    return n_edges < all;
}

}  // namespace

template <class Real>
StarDescent<Real>::StarDescent(std::span<const Vertex> shape, const EdgeList& graph,
                               std::span<const double> weights, std::span<const double> signal,
                               Blocks blocks)
    : graph_(graph),
      weights_(weights),
      f_(signal),
      lattice_(shape, signal.size() / at(graph.n_vertices), blocks,
               has_gaps(shape, weights.size())) {
    const std::size_t n = layout().n_vertices();
    for (std::size_t first = 0; first < f_.size(); first += n) {
        const auto [least, most] = range_of(f_.subspan(first, n));
        centres_.push_back(0.5 * least + 0.5 * most);
        range_ = std::max(range_, most - centres_.back());
    }
    if (!(range_ > 0.0)) range_ = 1.0;
    const auto inverse_of = [&](double weight) {
        const double inverse = range_ / weight;
        return static_cast<Real>(std::min(std::max(inverse, 1.0 / largest<Real>), largest<Real>));
    };
    const auto [lightest, heaviest] = range_of(weights_);
    const bool is_even = lightest == heaviest && lattice_.axes()[0].exists.empty();
    if (is_even) {
        for (std::size_t axis = 0; axis < (blocks == Blocks::stars ? 1 : shape.size()); ++axis)
            std::ranges::fill(lattice_.inverse_capacity(axis), inverse_of(lightest));
    } else {
        layout().for_each_run(graph_.edges, 1, [&](const Run& run) {
            auto& inverse = lattice_.inverse_capacity(run.axis);
            auto& exists = lattice_.axes()[run.axis].exists;
            layout().for_each_place(run.line, run.column, run.size,
                                    [&](std::size_t k, std::size_t i) {
                                        inverse[i] = inverse_of(weights_[run.edge + k]);
                                        if (!exists.empty()) exists[i] = Real(1);
                                    });
        });
    }
    for (std::size_t line = 0; line < f_.size(); line += layout().width()) {
        const double centre = centres_[line / n];
        layout().for_each_place(line, 0, layout().width(), [&](std::size_t k, std::size_t i) {
            lattice_.g()[i] = static_cast<Real>((f_[line + k] - centre) / range_);
        });
    }
}

template <class Real>
void StarDescent<Real>::start_from(std::span<const double> p) {
    const std::size_t n = layout().n_vertices(), m = weights_.size();
    layout().for_each_run(graph_.edges, 1, [&](const Run& run) {
        for (std::size_t c = 0; c < lattice_.n_channels(); ++c)
            layout().for_each_place(
                run.line, run.column, run.size, [&](std::size_t k, std::size_t i) {
                    const double flow = weights_[run.edge + k] * p[c * m + run.edge + k];
                    lattice_.axes()[run.axis].x[c * n + i] =
                        static_cast<Real>(run.sign * flow / range_);
                });
    });
    lattice_.restart(1);
}

template <class Real>
template <class Body>
void StarDescent<Real>::for_each_flow(const Run& run, std::size_t channel, const Body& body) const {
    const Real* x = lattice_.axes()[run.axis].x.data() + channel * layout().n_vertices();
    layout().for_each_place(run.line, run.column, run.size, [&](std::size_t k, std::size_t i) {
        body(k, range_ * static_cast<double>(x[i]));
    });
}

template <class Real>
void StarDescent<Real>::u(std::span<double> out) const {
    const auto smooth = lattice_.smooth_point();
    for (std::size_t line = 0; line < smooth.size(); line += layout().width()) {
        const double centre = centres_[line / layout().n_vertices()];
        layout().for_each_place(line, 0, layout().width(), [&](std::size_t k, std::size_t i) {
            out[line + k] = centre + range_ * static_cast<double>(smooth[i]);
        });
    }
    if (!smooth.empty()) return;
    std::copy(f_.begin(), f_.end(), out.begin());
    layout().for_each_run(graph_.edges, 1, [&](const Run& run) {
        for (std::size_t c = 0; c < lattice_.n_channels(); ++c) {
            std::array<double, longest_run> flow;
            for_each_flow(run, c, [&](std::size_t k, double x) { flow[k] = x; });
            double* lower = &out[c * layout().n_vertices() + run.line + run.column];
            double* upper = lower + layout().stride(run.axis);
            for (std::size_t k = 0; k < run.size; ++k) lower[k] -= flow[k];
            for (std::size_t k = 0; k < run.size; ++k) upper[k] += flow[k];
        }
    });
}

template <class Real>
void StarDescent<Real>::dual(std::span<double> p, int n_threads) const {
    const std::size_t m = weights_.size();
    layout().for_each_run(graph_.edges, n_threads, [&](const Run& run) {
        for (std::size_t c = 0; c < lattice_.n_channels(); ++c)
            for_each_flow(run, c, [&](std::size_t k, double x) {
                p[c * m + run.edge + k] = run.sign * x / weights_[run.edge + k];
            });
    });
}

template class StarDescent<float>;
template class StarDescent<double>;

}  // namespace graphtv

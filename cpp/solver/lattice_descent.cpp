#include "solver/lattice_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "parallel/parallel_for.hpp"
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
      width_(at(shape.back())),
      n_even_((width_ + 1) / 2),
      slab_(f_.size() / at(shape.front())),
      n_slabs_(shape.front()),
      n_pairs_((shape.front() + 1) / 2),
      momentum_({}) {
    const auto [least, most] = std::minmax_element(f_.begin(), f_.end());
    centre_ = 0.5 * *least + 0.5 * *most;
    range_ = *most > *least ? *most - centre_ : 1.0;
    const double heaviest = c_.empty() ? 1.0 : *std::max_element(c_.begin(), c_.end());
    unit_ = range_ * heaviest;

    std::size_t stride = 1;
    for (auto length = shape.rbegin(); length != shape.rend(); stride *= at(*length++)) {
        Watched::look();
        axes_.push_back({stride, std::vector<float>(f_.size()), std::vector<float>(f_.size()),
                         std::vector<float>(f_.size())});
    }
    for_each_edge([&](std::size_t e, std::size_t axis, std::size_t lower, std::size_t) {
        axes_[axis].capacity[lower] = single(weights_[e] / unit_);
    });
    g_.resize(f_.size());
    inverse_.resize(c_.size());
    for_each_vertex([&](std::size_t v, std::size_t vertex_place) {
        g_[vertex_place] = static_cast<float>((f_[v] - centre_) / range_);
        if (!c_.empty()) inverse_[vertex_place] = single(heaviest / c_[v]);
    });
    u_ = r_ = g_;
}

// body(edge, axis, place of the lower end, place of the upper end) for the edges in [first, last).
template <class Body>
void LatticeDescent::for_each_edge(std::size_t first, std::size_t last, const Body& body) const {
    std::size_t axis = 0, line = 0;  // of the last edge: as a rule the next one's too
    for (std::size_t e = first; e < last; ++e) {
        const auto [tail, head] = graph_.edges[e];
        const std::size_t vertex = at(std::min(tail, head)), stride = at(std::abs(head - tail));
        while (axes_[axis].stride != stride) axis = (axis + 1) % axes_.size();
        if (vertex < line || vertex - line >= width_) line = vertex - vertex % width_;
        const std::size_t lower = place(line, vertex - line);
        body(e, axis, lower, stride == 1 ? place(line, vertex - line + 1) : lower + stride);
    }
}

// The same for all edges, one after the other.
template <class Body>
void LatticeDescent::for_each_edge(const Body& body) const {
    for_shards(weights_.size(), 1,
               [&](std::size_t first, std::size_t last) { for_each_edge(first, last, body); });
}

// body(vertex, place).
template <class Body>
void LatticeDescent::for_each_vertex(const Body& body) const {
    for (std::size_t line = 0; line < f_.size(); line += width_)
        for (std::size_t column = 0; column < width_; ++column)
            body(line + column, place(line, column));
}

void LatticeDescent::start_from(std::span<const double> p) {
    for_each_edge([&](std::size_t e, std::size_t axis, std::size_t lower, std::size_t) {
        axes_[axis].x[lower] = static_cast<float>(sign(e) * p[e]) * axes_[axis].capacity[lower];
    });
    recompute();
}

// u from x, without momentum.
void LatticeDescent::recompute() {
    u_ = g_;
    for_each_edge([&](std::size_t, std::size_t axis, std::size_t lower, std::size_t upper) {
        const float flow = axes_[axis].x[lower];
        u_[lower] -= inverse(lower) * flow;
        u_[upper] += inverse(upper) * flow;
    });
    momentum_.start();
    forget_momentum();
    is_torn_ = false;
}

void LatticeDescent::forget_momentum() {
    for (auto& axis : axes_) axis.y = axis.x;
    r_ = u_;
}

int LatticeDescent::step(Watch& watch, int n_threads, int at_most) {
    settle();
    const int n = std::min(at_most, longest_step);
    std::array<float, longest_step> betas{};
    for (int t = 0; t < n; ++t) {
        momentum_.advance();
        betas[static_cast<std::size_t>(t)] = static_cast<float>(momentum_.beta());
    }
    const std::span used(betas.data(), static_cast<std::size_t>(n));

    // Upright trapezoids side by side, then those that hang between them.
    const int n_parts = std::clamp(n_pairs_ / (4 * longest_step), 1, 4 * n_threads);
    const auto bound = [&](int part) {
        return static_cast<int>(std::int64_t{n_pairs_} * part / n_parts);
    };
    std::atomic<bool> stop = false;
    const auto upright = [&](int part, int worker) {
        const Trapezoid shape{bound(part), bound(part + 1), part > 0 ? 1 : 0,
                              part + 1 < n_parts ? -1 : 0};
        run(shape, used, worker == 0 ? &watch : nullptr, stop);
    };
    const auto hanging = [&](int part, int worker) {
        run({bound(part + 1), bound(part + 1), -1, 1}, used, worker == 0 ? &watch : nullptr, stop);
    };
    parallel_for(n_parts, n_threads, std::cref(upright));
    parallel_for(n_parts - 1, n_threads, std::cref(hanging));
    if (stop) {
        is_torn_ = true;
        return 0;
    }
    const double energy = total([&](std::size_t i) { return 0.5 * u_[i] * u_[i]; });
    if (momentum_.restarts(0.0, energy)) forget_momentum();
    return n;
}

// Iteration t + 1 follows iteration t one pair behind it.
void LatticeDescent::run(const Trapezoid& part, std::span<const float> betas, Watch* watch,
                         std::atomic<bool>& stop) {
    const int n = static_cast<int>(betas.size());
    for (int front = part.begin; front <= part.end + 2 * n; ++front) {
        if (watch != nullptr && watch->expired()) stop = true;
        if (stop.load(std::memory_order_relaxed)) return;
        for (int t = 0; t < n; ++t) {
            const float beta = betas[static_cast<std::size_t>(t)];
            if (part.sweeps(front - t, t)) sweep_pair(front - t, beta);
            if (part.closes(front - t, t)) close_seam(front - t, beta);
        }
    }
}

// All edges within a pair of slabs.
void LatticeDescent::sweep_pair(int pair, float beta) {
    sweep_slab(2 * pair, beta);
    if (2 * pair + 1 == n_slabs_) return;
    sweep_slab(2 * pair + 1, beta);
    match(axes_.size() - 1, start(2 * pair), start(2 * pair + 1), slab_, beta);
}

// The edges from the pair before to this one; both slabs at the seam are complete then.
void LatticeDescent::close_seam(int seam, float beta) {
    const int below = 2 * seam - 1, above = 2 * seam;
    const bool has_below = below >= 0 && below < n_slabs_, has_above = above < n_slabs_;
    if (has_below && has_above) match(axes_.size() - 1, start(below), start(above), slab_, beta);
    if (has_below) extrapolate(&r_[start(below)], &u_[start(below)], slab_, beta);
    if (has_above) extrapolate(&r_[start(above)], &u_[start(above)], slab_, beta);
}

void LatticeDescent::sweep_slab(int slab, float beta) {
    for_each_matching(slab, [&](std::size_t axis, std::size_t lower, std::size_t upper,
                                std::size_t n) { match(axis, lower, upper, n, beta); });
}

// All edges within a slab, axis after axis: body(axis, first lower end, first upper end, size).
template <class Body>
void LatticeDescent::for_each_matching(int slab, const Body& body) const {
    const std::size_t begin = start(slab), end = begin + slab_;
    for (std::size_t line = begin; line < end; line += width_) {
        body(0, line, line + n_even_, width_ / 2);
        body(0, line + n_even_, line + 1, (width_ - 1) / 2);
    }
    for (std::size_t axis = 1; axis + 1 < axes_.size(); ++axis) {
        const std::size_t stride = axes_[axis].stride, block = axes_[axis + 1].stride;
        for (std::size_t parity = 0; parity < 2; ++parity)
            for (std::size_t first = begin; first < end; first += block)
                for (std::size_t lower = first + parity * stride; lower + stride < first + block;
                     lower += 2 * stride)
                    body(axis, lower, lower + stride, stride);
    }
}

void LatticeDescent::match(std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n,
                           float beta) {
    const bool is_weighted = !inverse_.empty();
    auto& [stride, x, y, capacity] = axes_[axis];
    move({&r_[lower], &r_[upper], is_weighted ? &inverse_[lower] : nullptr,
          is_weighted ? &inverse_[upper] : nullptr, &capacity[lower], &x[lower], &y[lower], n},
         beta);
}

// Σ_i c_i value(i)
template <class Value>
double LatticeDescent::total(const Value& value) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < u_.size(); ++i) sum += static_cast<double>(value(i) / inverse(i));
    return sum;
}

double LatticeDescent::primal_value() {
    settle();
    double sum = total([&](std::size_t i) { return 0.5F * (u_[i] - g_[i]) * (u_[i] - g_[i]); });
    const auto add = [&](std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n) {
        sum += variation(&u_[lower], &u_[upper], &axes_[axis].capacity[lower], n);
    };
    for (int slab = 0; slab < n_slabs_; ++slab) {
        for_each_matching(slab, add);
        if (slab + 1 < n_slabs_) add(axes_.size() - 1, start(slab), start(slab + 1), slab_);
    }
    return unit_ * range_ * sum;
}

// Flows keep the total of u, so that f² - u² may be taken about any centre.
double LatticeDescent::dual_value() {
    settle();
    return unit_ * range_ *
           total([&](std::size_t i) { return 0.5F * (g_[i] - u_[i]) * (g_[i] + u_[i]); });
}

void LatticeDescent::u(std::span<double> out) const {
    std::copy(f_.begin(), f_.end(), out.begin());
    for_each_edge([&](std::size_t e, std::size_t axis, std::size_t lower, std::size_t) {
        const auto [tail, head] = graph_.edges[e];
        const double flow = weights_[e] * ratio(e, axis, lower);
        out[at(tail)] -= c_.empty() ? flow : flow / c_[at(tail)];
        out[at(head)] += c_.empty() ? flow : flow / c_[at(head)];
    });
}

void LatticeDescent::dual(std::span<double> p, int n_threads) const {
    for_shards(p.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for_each_edge(first, last,
                      [&](std::size_t e, std::size_t axis, std::size_t lower, std::size_t) {
                          p[e] = ratio(e, axis, lower);
                      });
    });
}

// p of an edge.
double LatticeDescent::ratio(std::size_t e, std::size_t axis, std::size_t lower) const {
    const double capacity = axes_[axis].capacity[lower], flow = axes_[axis].x[lower];
    return capacity > 0.0 ? sign(e) * std::clamp(flow / capacity, -1.0, 1.0) : 0.0;
}

}  // namespace graphtv

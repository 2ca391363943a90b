#include "solver/descent/lattice.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "parallel/parallel_for.hpp"
#include "solver/descent/matching.hpp"

namespace graphtv {

namespace {

// u and r are updated edge by edge. After this many iterations, accumulated rounding errors affect
// the fourth digit of the gap if the weights are large.
constexpr int longest_drift = 16;

}  // namespace

Lattice::Lattice(std::span<const Vertex> shape, bool is_weighted)
    : width_(at(shape.back())),
      n_even_((width_ + 1) / 2),
      slab_(1),
      n_slabs_(shape.front()),
      n_pairs_((shape.front() + 1) / 2),
      momentum_({}) {
    for (const Vertex length : shape.subspan(1)) slab_ *= at(length);
    const std::size_t n = slab_ * at(shape.front());
    std::size_t stride = 1;
    for (auto length = shape.rbegin(); length != shape.rend(); stride *= at(*length++)) {
        Watched::look();
        axes_.push_back({stride, at(*length), std::vector<float>(n), std::vector<float>(n),
                         std::vector<float>(n)});
    }
    Watched::look();
    g_.resize(n);
    u_.resize(n);
    r_.resize(n);
    if (is_weighted) inverse_.resize(n, 1.0F);
}

void Lattice::restart(int n_threads) {
    const auto body = [&](int slab, int) { apply(&Axis::x, slab, u_); };
    parallel_for(n_slabs_, n_threads, std::cref(body));
    forget_momentum();
    momentum_.start();
    drift_ = 0;
    is_torn_ = false;
}

// Recomputes u from x and r from y.
void Lattice::recompute(int n_threads) {
    const auto body = [&](int slab, int) {
        apply(&Axis::x, slab, u_);
        apply(&Axis::y, slab, r_);
    };
    parallel_for(n_slabs_, n_threads, std::cref(body));
    drift_ = 0;
}

// out = g - C⁻¹∇ᵀflow, on one slab.
void Lattice::apply(std::vector<float> Axis::* flow, int slab, std::vector<float>& out) const {
    const std::size_t begin = start(slab), end = begin + slab_;
    const float* across = (axes_.back().*flow).data();
    std::fill(&out[begin], &out[begin] + slab_, 0.0F);
    for_each_matching(slab,
                      [&](std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n) {
                          push(&(axes_[axis].*flow)[lower], &out[lower], &out[upper], n);
                      });
    if (slab + 1 < n_slabs_)
        for (std::size_t i = begin; i < end; ++i) out[i] += across[i];
    if (slab > 0)
        for (std::size_t i = begin; i < end; ++i) out[i] -= across[i - slab_];
    if (is_weighted()) {
        for (std::size_t i = begin; i < end; ++i) out[i] = g_[i] - inverse_[i] * out[i];
    } else {
        for (std::size_t i = begin; i < end; ++i) out[i] = g_[i] - out[i];
    }
}

void Lattice::forget_momentum() {
    for (auto& axis : axes_) axis.y = axis.x;
    r_ = u_;
}

void Lattice::settle(int n_threads) {
    if (is_torn_) {
        restart(n_threads);
    } else if (drift_ >= longest_drift) {
        recompute(n_threads);
    }
}

int Lattice::step(Watch& watch, int n_threads, int at_most) {
    settle(n_threads);
    const int n = std::min(at_most, longest_step);
    std::array<float, longest_step> betas{};
    for (int t = 0; t < n; ++t) {
        momentum_.advance();
        betas[static_cast<std::size_t>(t)] = static_cast<float>(momentum_.beta());
    }
    const bool finished = SlabSchedule(n_pairs_).run(
        n, watch, n_threads,
        [&](int pair, int t) { sweep_pair(pair, betas[static_cast<std::size_t>(t)]); },
        [&](int seam, int t) { close_seam(seam, betas[static_cast<std::size_t>(t)]); });
    if (!finished) {
        is_torn_ = true;
        return 0;
    }
    drift_ += n;
    if (momentum_.restarts(0.0, energy(u_.data(), inverses(), u_.size()))) forget_momentum();
    return n;
}

// All edges within a pair of slabs.
void Lattice::sweep_pair(int pair, float beta) {
    sweep_slab(2 * pair, beta);
    if (2 * pair + 1 == n_slabs_) return;
    sweep_slab(2 * pair + 1, beta);
    match(axes_.size() - 1, start(2 * pair), start(2 * pair + 1), slab_, beta);
}

// The edges from the previous pair to this one. Afterwards both slabs at the seam are complete.
void Lattice::close_seam(int seam, float beta) {
    const int below = 2 * seam - 1, above = 2 * seam;
    const bool has_below = below >= 0 && below < n_slabs_, has_above = above < n_slabs_;
    if (has_below && has_above) match(axes_.size() - 1, start(below), start(above), slab_, beta);
    if (has_below) extrapolate(&r_[start(below)], &u_[start(below)], slab_, beta);
    if (has_above) extrapolate(&r_[start(above)], &u_[start(above)], slab_, beta);
}

void Lattice::sweep_slab(int slab, float beta) {
    for_each_matching(slab, [&](std::size_t axis, std::size_t lower, std::size_t upper,
                                std::size_t n) { match(axis, lower, upper, n, beta); });
}

// Calls body(axis, first lower end, first upper end, size) for all edges within a slab, axis by
// axis.
template <class Body>
void Lattice::for_each_matching(int slab, const Body& body) const {
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

void Lattice::match(std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n,
                    float beta) {
    auto& [stride, length, x, y, capacity] = axes_[axis];
    move({&r_[lower], &r_[upper], is_weighted() ? &inverse_[lower] : nullptr,
          is_weighted() ? &inverse_[upper] : nullptr, &capacity[lower], &x[lower], &y[lower], n},
         beta);
}

double Lattice::primal_value(int n_threads) {
    settle(n_threads);
    double sum = squared_distance(u_.data(), g_.data(), inverses(), u_.size());
    const auto add = [&](std::size_t axis, std::size_t lower, std::size_t upper, std::size_t n) {
        sum += variation(&u_[lower], &u_[upper], &axes_[axis].capacity[lower], n);
    };
    for (int slab = 0; slab < n_slabs_; ++slab) {
        for_each_matching(slab, add);
        if (slab + 1 < n_slabs_) add(axes_.size() - 1, start(slab), start(slab + 1), slab_);
    }
    return sum;
}

// Flows do not change the total of u, so g² - u² may be computed about any centre.
double Lattice::dual_value(int n_threads) {
    settle(n_threads);
    return difference_of_squares(g_.data(), u_.data(), inverses(), u_.size());
}

}  // namespace graphtv

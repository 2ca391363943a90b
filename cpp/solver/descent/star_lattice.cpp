#include "solver/descent/star_lattice.hpp"

#include <algorithm>
#include <functional>

#include "parallel/parallel_for.hpp"
#include "solver/descent/matching.hpp"

namespace graphtv {

namespace {

// u and r are updated star by star. After so many iterations rounding errors would show: in the
// fourth digit of the gap in single precision.
template <class Real>
constexpr int longest_drift = sizeof(Real) == sizeof(float) ? 16 : 1024;

double difference(const float* a, const float* b, std::size_t n) {
    return difference_of_squares(a, b, nullptr, n);
}
double difference(const double* a, const double* b, std::size_t n) {
    return difference_of_squares(a, b, n);
}
double energy_of(std::span<const float> a) { return energy(a.data(), nullptr, a.size()); }
double energy_of(std::span<const double> a) { return energy(a.data(), a.size()); }

}  // namespace

template <class Real>
StarLattice<Real>::StarLattice(std::span<const Vertex> shape, std::size_t n_channels, Blocks blocks,
                               bool has_gaps)
    : layout_(shape, shape.size() + 1),
      n_channels_(n_channels),
      blocks_(blocks),
      slab_(layout_.stride(shape.size() - 1)),
      n_slabs_(shape.front()),
      axes_(shape.size()),
      momentum_({}) {
    const std::size_t n = layout_.n_vertices(), size = n * n_channels;
    for (auto& axis : axes_) {
        for (auto* flow : {&axis.x, &axis.y}) {
            Watched::look();
            flow->resize(size);
        }
        if (has_gaps) axis.exists.resize(n);
        if (blocks == Blocks::edges || &axis == &axes_.front())
            axis.inverse_capacity.resize(n, Real(1));
    }
    for (auto* values : {&g_, &u_, &r_}) {
        Watched::look();
        values->resize(size);
    }
}

template <class Real>
StarLine<Real> StarLattice<Real>::stars(const Line& line, Values& u) {
    const std::size_t place = line.place;
    StarLine<Real> found{{}, layout_.offsets(), layout_.n_phases(), blocks_ == Blocks::stars};
    auto& all = found.all;
    all.u.centre = &u[place];
    for_each_axis(line, [&](std::size_t k, std::size_t axis) {
        Axis& here = axes_[axis];
        if (axis > 0) all.u.ends[k] = &u[place + layout_.stride(axis)];
        all.x[k] = &here.x[place];
        all.y[k] = &here.y[place];
        all.exists[k] = here.exists.empty() ? nullptr : &here.exists[place];
        all.inverse_capacity[k] = &inverse_capacity(axis)[place];
        ++all.n_axes;
    });
    all.size = layout_.width();
    all.n_channels = n_channels_;
    all.channel = layout_.n_vertices();
    return found;
}

template <class Real>
void StarLattice<Real>::sweep(int slab, Real beta) {
    for_each_line(slab, [&](const Line& line) { move(stars(line, r_), beta); });
}

// The stars from the previous pair of slabs to this one. Afterwards both slabs at the seam are
// complete.
template <class Real>
void StarLattice<Real>::close(int seam, Real beta) {
    const int below = 2 * seam - 1, above = 2 * seam;
    if (below >= 0 && below < n_slabs_) sweep(below, beta);
    for (const int slab : {below, above})
        if (slab >= 0 && slab < n_slabs_)
            for (std::size_t c = 0; c < n_channels_; ++c) {
                const std::size_t first = c * layout_.n_vertices() + start(slab);
                extrapolate(&r_[first], &u_[first], slab_, beta);
            }
}

template <class Real>
void StarLattice<Real>::restart(int n_threads) {
    const auto body = [&](int slab, int) { apply(&Axis::x, slab, u_); };
    parallel_for(n_slabs_, n_threads, std::cref(body));
    forget_momentum();
    momentum_.start();
    drift_ = 0;
    is_torn_ = false;
}

// Recomputes u from x and r from y.
template <class Real>
void StarLattice<Real>::recompute(int n_threads) {
    const auto body = [&](int slab, int) {
        apply(&Axis::x, slab, u_);
        apply(&Axis::y, slab, r_);
    };
    parallel_for(n_slabs_, n_threads, std::cref(body));
    drift_ = 0;
}

// out = g - ∇ᵀflow, on one slab. Flows are 0 where there is no edge.
template <class Real>
void StarLattice<Real>::apply(Values Axis::* flow, int slab, Values& out) const {
    const std::size_t n_phases = layout_.n_phases(), n_axes = layout_.n_axes();
    for (std::size_t c = 0; c < n_channels_; ++c) {
        const std::size_t begin = c * layout_.n_vertices() + start(slab), end = begin + slab_;
        std::copy_n(&g_[begin], slab_, &out[begin]);
        for (std::size_t axis = 0; axis < n_axes; ++axis) {
            const Real* x = (axes_[axis].*flow).data();
            for (std::size_t i = begin; i < end; ++i) out[i] -= x[i];
            const std::size_t stride = layout_.stride(axis);
            if (axis + 1 == n_axes) {
                if (slab > 0)
                    for (std::size_t i = begin; i < end; ++i) out[i] += x[i - stride];
            } else if (axis > 0) {
                for (std::size_t i = begin + stride; i < end; ++i) out[i] += x[i - stride];
            } else {
                for (std::size_t line = begin; line < end; line += layout_.width())
                    for (std::size_t phase = 0; phase < n_phases; ++phase) {
                        // From the phase before, which is the last one for the first.
                        const std::size_t before = (phase + n_phases - 1) % n_phases;
                        const std::size_t skip = phase == 0 ? 1 : 0;
                        const std::size_t to = line + layout_.offset(phase) + skip;
                        const std::size_t last = line + layout_.offset(phase + 1);
                        const Real* from = x + line + layout_.offset(before);
                        for (std::size_t i = to; i < last; ++i) out[i] += from[i - to];
                    }
            }
        }
    }
}

template <class Real>
void StarLattice<Real>::forget_momentum() {
    for (auto& axis : axes_) axis.y = axis.x;
    r_ = u_;
    mean_.forget();
}

template <class Real>
void StarLattice<Real>::settle(int n_threads) {
    if (is_torn_) {
        restart(n_threads);
    } else if (drift_ >= longest_drift<Real>) {
        recompute(n_threads);
    }
}

template <class Real>
int StarLattice<Real>::step(Watch& watch, int n_threads, int at_most) {
    settle(n_threads);
    const int n = std::min(at_most, longest_step);
    std::array<Real, longest_step> betas{};
    for (int t = 0; t < n; ++t) {
        momentum_.advance();
        betas[static_cast<std::size_t>(t)] = static_cast<Real>(momentum_.beta());
    }
    const SlabSchedule schedule((n_slabs_ + 1) / 2);
    const bool finished = schedule.run(
        n, watch, n_threads,
        [&](int pair, int t) { sweep(2 * pair, betas[static_cast<std::size_t>(t)]); },
        [&](int seam, int t) { close(seam, betas[static_cast<std::size_t>(t)]); });
    if (!finished) {
        is_torn_ = true;
        return 0;
    }
    drift_ += n;
    mean_.take(u_);
    if (momentum_.restarts(0.0, energy_of(std::span<const Real>(u_)))) forget_momentum();
    return n;
}

// Flows do not change the total of u, so g² - u² may be computed about any centre.
template <class Real>
double StarLattice<Real>::dual_value(int n_threads) {
    settle(n_threads);
    return difference(g_.data(), u_.data(), u_.size());
}

template class StarLattice<float>;
template class StarLattice<double>;

}  // namespace graphtv

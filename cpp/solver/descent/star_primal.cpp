// The primal point of a descent over stars in single precision.
//
// At low accuracy the dual point is much closer to the optimum than u = g - ∇ᵀx, which is rough
// where the solution is constant. A weighted mean of the iterates since the last restart is
// smoother, with the weight k³ for the k-th of them. Two steps of lagged diffusion (Vogel and Oman
// 1996) smooth it further: with conductances c = ω / √(‖∇u‖² + δ²),
//
//     u_i  ←  (g_i + Σ_j c_ij u_j) / (1 + Σ_j c_ij).
//
// They reduce the primal objective with ‖∇u‖ replaced by √(‖∇u‖² + δ²), which is larger by at most
// Σ ω δ. So δ is a part of the gap over Σ ω. The better of the mean and the smoothed mean is kept.

#include <algorithm>
#include <cmath>
#include <vector>

#include "solver/descent/matching.hpp"
#include "solver/descent/star_lattice.hpp"

namespace graphtv {

namespace {

constexpr int n_smoothings = 2;
constexpr double width_of_gap = 0.3;  // δ Σ ω over the gap
constexpr double least_width = 1e-7;  // δ in units of the range of the data

double distance(const float* a, const float* b, std::size_t n) {
    return squared_distance(a, b, nullptr, n);
}
double distance(const double* a, const double* b, std::size_t n) {
    return squared_distance(a, b, n);
}

}  // namespace

// Takes u into the mean.
template <class Real>
void StarLattice<Real>::take_mean() {
    if constexpr (sizeof(Real) > sizeof(float)) return;
    if (mean_.empty()) mean_.resize(u_.size());
    const double k = ++n_means_, share = 4.0 * k / ((k + 1.0) * (k + 1.0));  // k³ / Σ k³
    blend(u_.data(), mean_.data(), u_.size(), static_cast<Real>(share));
}

template <class Real>
double StarLattice<Real>::objective(Values& u) {
    double sum = distance(u.data(), g_.data(), u.size());
    for (int slab = 0; slab < n_slabs_; ++slab)
        for_each_line(slab, [&](const Line& line) { sum += variation(stars(line, u)); });
    return sum;
}

// One step of lagged diffusion. Returns the objective before, with √(‖∇u‖² + δ²) in place of ‖∇u‖. Slab after slab is replaced as soon as
// its sums are complete.
template <class Real>
double StarLattice<Real>::diffuse(Values& u, Real width) {
    double sum = distance(u.data(), g_.data(), u.size());
    const std::size_t n = layout_.n_vertices(), size = slab_ * n_channels_;
    std::array<std::vector<Real>, 2> numerators, denominators;
    const auto begin = [&](int slab) {
        auto &numerator = numerators[at(slab % 2)], &denominator = denominators[at(slab % 2)];
        numerator.resize(size);
        for (std::size_t c = 0; c < n_channels_; ++c)
            std::copy_n(&g_[c * n + start(slab)], slab_, &numerator[c * slab_]);
        denominator.assign(slab_, Real(1));
    };
    begin(0);
    for (int slab = 0; slab < n_slabs_; ++slab) {
        if (slab + 1 < n_slabs_) begin(slab + 1);
        auto &numerator = numerators[at(slab % 2)], &denominator = denominators[at(slab % 2)];
        auto &above = numerators[at((slab + 1) % 2)], &beyond = denominators[at((slab + 1) % 2)];
        for_each_line(slab, [&](const Line& line) {
            const std::size_t first = line.place - start(slab);
            Diffusion<Real> sums{{&numerator[first], {}}, {&denominator[first], {}}, slab_, width};
            for_each_axis(line, [&](std::size_t k, std::size_t axis) {
                const bool is_next = axis + 1 == layout_.n_axes();
                const std::size_t end = first + (is_next ? 0 : layout_.stride(axis));
                sums.numerator.ends[k] = (is_next ? above : numerator).data() + end;
                sums.denominator.ends[k] = (is_next ? beyond : denominator).data() + end;
            });
            sum += graphtv::diffuse(stars(line, u), sums);
        });
        for (std::size_t c = 0; c < n_channels_; ++c)
            divide(&numerator[c * slab_], denominator.data(), slab_, &u[c * n + start(slab)]);
    }
    return sum;
}

template <class Real>
double StarLattice<Real>::sum_of_capacities() {
    double sum = 0.0;
    for (std::size_t axis = 0; axis < (blocks_ == Blocks::stars ? 1 : axes_.size()); ++axis)
        for (const Real inverse : inverse_capacity(axis)) sum += 1.0 / static_cast<double>(inverse);
    return sum;
}

template <class Real>
double StarLattice<Real>::primal_value(int n_threads) {
    settle(n_threads);
    if (n_means_ == 0) return objective(u_);
    if (total_capacity_ == 0.0) total_capacity_ = sum_of_capacities();
    const double dual = dual_value(n_threads);
    if (gap_ == 0.0) gap_ = objective(mean_) - dual;
    const double width = std::max(width_of_gap * gap_ / total_capacity_, least_width);
    smooth_ = mean_;
    double rough = 0.0;
    for (int k = 0; k < n_smoothings; ++k) {
        const double before = diffuse(smooth_, static_cast<Real>(width));
        if (k == 0) rough = before;
    }
    double value = objective(smooth_);
    if (!(value <= rough)) {
        smooth_ = mean_;
        value = objective(smooth_);
    }
    gap_ = std::max(value - dual, 0.0);
    is_smooth_ = true;
    return value;
}

template void StarLattice<float>::take_mean();
template void StarLattice<double>::take_mean();
template double StarLattice<float>::primal_value(int);
template double StarLattice<double>::primal_value(int);

}  // namespace graphtv

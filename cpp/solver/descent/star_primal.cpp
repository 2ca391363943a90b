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
constexpr double width_of_gap = 0.3;    // δ Σ ω over the gap
constexpr double least_width = 1e-7;    // δ in units of the range of the data

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
        for_each_run(slab, [&](const Run& run) { sum += variation(stars(run, u)); });
    return sum;
}

// One step of lagged diffusion. Slab after slab is replaced as soon as its sums are complete.
template <class Real>
void StarLattice<Real>::diffuse(Values& u, Real width) {
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
        for_each_run(slab, [&](const Run& run) {
            const std::size_t place = run.place - start(slab);
            Diffusion<Real> sums{&numerator[place], &denominator[place], {}, {}, slab_, width};
            for (std::size_t k = 0; k < static_cast<std::size_t>(run.n_axes); ++k) {
                const bool is_next = run.end[k] >= start(slab + 1);
                const std::size_t end = run.end[k] - start(slab + (is_next ? 1 : 0));
                sums.numerators[k] = (is_next ? numerators[at((slab + 1) % 2)] : numerator).data() + end;
                sums.denominators[k] =
                    (is_next ? denominators[at((slab + 1) % 2)] : denominator).data() + end;
            }
            graphtv::diffuse(stars(run, u), sums);
        });
        for (std::size_t c = 0; c < n_channels_; ++c) {
            Real* out = &u[c * n + start(slab)];
            for (std::size_t i = 0; i < slab_; ++i)
                out[i] = numerator[c * slab_ + i] / denominator[i];
        }
    }
}

template <class Real>
double StarLattice<Real>::primal_value(int n_threads) {
    settle(n_threads);
    if (n_means_ == 0) return objective(u_);
    if (total_capacity_ == 0.0)
        for (int slab = 0; slab < n_slabs_; ++slab)
            for_each_run(slab, [&](const Run& run) {
                const Real* inverse = &inverse_capacity(run.axis[0])[run.place];
                for (std::size_t i = 0; i < run.size; ++i)
                    total_capacity_ += 1.0 / static_cast<double>(inverse[i]);
            });
    const double rough = objective(mean_), gap = std::max(rough - dual_value(n_threads), 0.0);
    const double width = std::max(width_of_gap * gap / total_capacity_, least_width);
    smooth_ = mean_;
    for (int k = 0; k < n_smoothings; ++k) diffuse(smooth_, static_cast<Real>(width));
    const double value = objective(smooth_);
    is_smooth_ = true;
    if (value <= rough) return value;
    smooth_ = mean_;
    return rough;
}

template void StarLattice<float>::take_mean();
template void StarLattice<double>::take_mean();
template double StarLattice<float>::primal_value(int);
template double StarLattice<double>::primal_value(int);

}  // namespace graphtv

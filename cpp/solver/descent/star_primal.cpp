// The primal point of a descent over stars.

#include <algorithm>
#include <array>
#include <vector>

#include "solver/descent/matching.hpp"
#include "solver/descent/star_lattice.hpp"

namespace graphtv {

namespace {

double distance(const float* a, const float* b, std::size_t n) {
    return squared_distance(a, b, nullptr, n);
}
double distance(const double* a, const double* b, std::size_t n) {
    return squared_distance(a, b, n);
}

}  // namespace

template <class Real>
double StarLattice<Real>::objective(Values& u) {
    double sum = distance(u.data(), g_.data(), u.size());
    for (int slab = 0; slab < n_slabs_; ++slab)
        for_each_line(slab, [&](const Line& line) { sum += variation(stars(line, u)); });
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
            graphtv::diffuse(stars(line, u), sums);
        });
        for (std::size_t c = 0; c < n_channels_; ++c)
            divide(&numerator[c * slab_], denominator.data(), slab_, &u[c * n + start(slab)]);
    }
}

// Places without an edge count, too.
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
    if (mean_.is_empty()) return objective(u_);
    if (total_capacity_ == 0.0) total_capacity_ = sum_of_capacities();
    return mean_.value(
        dual_value(n_threads), total_capacity_, [&](Values& u) { return objective(u); },
        [&](Values& u, Real width) { diffuse(u, width); });
}

template double StarLattice<float>::primal_value(int);
template double StarLattice<double>::primal_value(int);

}  // namespace graphtv

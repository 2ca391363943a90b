// Sums of Gaussian kernels over samples, in single precision:
//
//     sum_i = Σ_j exp(-½ (‖a_i - b_j‖² + r_i ‖x_i - y_j‖²)),
//
// with features a, b and positions x, y. The scale r of the positions may differ from point to
// point.
#pragma once

#include <cstddef>
#include <span>

namespace graphtv {

struct KernelPoints {
    std::span<const float> features, places;  // of all points: n × d and n × D, row by row
    std::span<const float> precision;         // r
};

struct KernelSamples {
    std::span<const float> features, places;  // d × m and D × m: a row per coordinate
    std::size_t count;                        // m
};

// The result has the same bits for any number of threads and on any processor.
void kernel_sums(const KernelPoints& points, const KernelSamples& samples, std::span<double> sums,
                 int n_threads);

}  // namespace graphtv

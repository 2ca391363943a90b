#include "density/kernel_density.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "parallel/each_cpu.hpp"
#include "terms/sum.hpp"

namespace graphtv {

namespace {

constexpr std::size_t block = 64, n_lanes = 8;
using Block = std::array<float, block>;

// exp x for -87 ≤ x ≤ 0, to two units in the last place (see quick_exp).
GRAPHTV_INLINE float quick_exp(float x) {
    constexpr float per_ln2 = 0x1.715476p+0F, rounder = 0x1.8p23F;
    constexpr float ln2_high = 0x1.62e400p-1F, ln2_low = 0x1.7f7d1cp-20F;
    const float shifted = x * per_ln2 + rounder, n = shifted - rounder;
    const float r = (x - n * ln2_high) - n * ln2_low;
    float sum = 1.0F / 5040.0F;
    sum = sum * r + 1.0F / 720.0F;
    sum = sum * r + 1.0F / 120.0F;
    sum = sum * r + 1.0F / 24.0F;
    sum = sum * r + 1.0F / 6.0F;
    sum = sum * r + 0.5F;
    const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127) << 23);
    return power + power * (r + r * r * sum);
}

// ‖point - sample‖² for a block of samples that begins at `first`.
GRAPHTV_INLINE void squared_distances(std::span<const float> point, std::span<const float> samples,
                                      std::size_t count, std::size_t first, std::size_t size,
                                      Block& out) {
    out.fill(0.0F);
    for (std::size_t k = 0; k < point.size(); ++k) {
        const float* row = samples.data() + k * count + first;
        for (std::size_t j = 0; j < size; ++j) out[j] += (point[k] - row[j]) * (point[k] - row[j]);
    }
}

GRAPHTV_FOR_EACH_CPU
double kernel_sum(std::span<const float> feature, std::span<const float> place, float precision,
                  const KernelSamples& samples) {
    constexpr float nothing = -87.0F;
    std::array<float, n_lanes> lanes{};
    Block near, far;
    for (std::size_t first = 0; first < samples.count; first += block) {
        const std::size_t size = std::min(block, samples.count - first);
        squared_distances(feature, samples.features, samples.count, first, size, near);
        squared_distances(place, samples.places, samples.count, first, size, far);
        for (std::size_t j = 0; j < block; ++j) {
            const float exponent = -0.5F * (near[j] + precision * far[j]);
            near[j] = exponent > nothing ? exponent : nothing;
        }
        for (std::size_t j = 0; j < block; ++j) near[j] = quick_exp(near[j]);
        for (std::size_t j = size; j < block; ++j) near[j] = 0.0F;
        for (std::size_t j = 0; j < block; j += n_lanes)
            for (std::size_t lane = 0; lane < n_lanes; ++lane) lanes[lane] += near[j + lane];
    }
    double total = 0.0;
    for (const float lane : lanes) total += static_cast<double>(lane);
    return total;
}

}  // namespace

void kernel_sums(const KernelPoints& points, const KernelSamples& samples, std::span<double> sums,
                 int n_threads) {
    if (samples.count == 0) {
        std::ranges::fill(sums, 0.0);
        return;
    }
    const std::size_t d = samples.features.size() / samples.count;
    const std::size_t D = samples.places.size() / samples.count;
    for_shards(sums.size(), n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            sums[i] = kernel_sum(points.features.subspan(i * d, d), points.places.subspan(i * D, D),
                                 points.precision[i], samples);
    });
}

}  // namespace graphtv

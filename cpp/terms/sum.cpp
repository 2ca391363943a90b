#include "terms/sum.hpp"

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

GRAPHTV_INLINE void add_to(double& sum, double& error, double x) {
    const double total = sum + x, part = total - sum;
    error += (sum - (total - part)) + (x - part);
    sum = total;
}

// In arrays of its own: members would be stored after every step.
GRAPHTV_FOR_EACH_CPU
void add_in_lanes(const double* row, std::size_t length, double* sums, double* errors) {
    constexpr std::size_t n_lanes = 4;
    double sum[n_lanes], error[n_lanes];
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        sum[lane] = sums[lane];
        error[lane] = errors[lane];
    }
    std::size_t k = 0;
    for (; k + n_lanes <= length; k += n_lanes)
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            add_to(sum[lane], error[lane], row[k + lane]);
    for (; k < length; ++k) add_to(sum[0], error[0], row[k]);
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        sums[lane] = sum[lane];
        errors[lane] = error[lane];
    }
}

}  // namespace

void CompensatedLanes::add(const double* row, std::size_t length) {
    add_in_lanes(row, length, sums_.data(), errors_.data());
}

}  // namespace graphtv

#include "terms/tally.hpp"

#include <cmath>

#include "parallel/each_cpu.hpp"

namespace graphtv {

namespace {

GRAPHTV_INLINE void add_in_lanes(const double* __restrict row, std::size_t length,
                                 double* __restrict sums) {
    std::size_t k = 0;
    for (; k + 4 <= length; k += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += row[k + lane];
    for (; k < length; ++k) sums[0] += row[k];
}

}  // namespace

GRAPHTV_FOR_EACH_CPU
void add_plainly(const TallyRow::Numbers& row, std::size_t length, std::array<double, 4>& sums) {
    add_in_lanes(row.data(), length, sums.data());
}

GRAPHTV_FOR_EACH_CPU
void add_plainly(TallyRow& row, std::size_t length, PlainSums& sums) {
    double* __restrict excess = row.excess.data();
    double* __restrict rounding = row.excess_rounding.data();
    TallyRow::Numbers tiny;  // in a loop of its own, without branches
    for (std::size_t k = 0; k < length; ++k)
        tiny[k] = excess[k] <= 8.0 * underflow_floor ? excess[k] : 0.0;
    for (std::size_t k = 0; k < length; ++k) {
        rounding[k] += std::abs(tiny[k]);
        excess[k] -= tiny[k] > 0.0 ? tiny[k] : 0.0;
    }
    add_in_lanes(excess, length, sums.excess.data());
    add_in_lanes(row.rounding.data(), length, sums.rounding.data());
    add_in_lanes(rounding, length, sums.excess_rounding.data());
}

}  // namespace graphtv

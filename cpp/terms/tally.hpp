// Sums of a pass over the vertices or over the edges for a certificate. With g = G_i, x = u_i
// and y = s_i, or g = F_e, x = (Ku)_e and y = p_e, the Fenchel-Young inequality says
//
//     g(x) + g*(y) - x y ≥ 0,
//
// The sum of all these excesses is the gap, since the products cancel: ⟨u, -Kᵀp⟩ + ⟨Ku, p⟩ = 0.
// Each excess is computed without cancellation. So the gap is as accurate as its terms, even if the
// objectives or the data are much larger.
#pragma once

#include <array>
#include <span>

#include "terms/divergence.hpp"
#include "terms/sum.hpp"

namespace graphtv {

// Bounds on the errors of s: errors_i = unit counts_i + floor.
struct Errors {
    std::span<const double> counts;
    double unit, floor;

    double operator[](std::size_t i) const { return unit * counts[i] + floor; }
};

struct Tally {
    CompensatedSum value, conjugate;  // Σ g(x) and Σ g*(y)
    double excess = 0.0;              // the sum of the excesses, without cancellation
    double rounding = 0.0;            // bounds the errors of the first two together
    double excess_rounding = 0.0;     // bounds the error of the third, except for its summation

    void add(const Tally& other) {
        value.add(other.value);
        conjugate.add(other.conjugate);
        excess += other.excess;
        rounding += other.rounding;
        excess_rounding += other.excess_rounding;
    }
};

// The contributions of one vertex or edge.
struct TallyRow {
    static constexpr std::size_t most = 64;
    using Numbers = std::array<double, most>;

    Numbers value, conjugate, excess, rounding, excess_rounding;
};

// Sums without compensation, four of each kind.
struct PlainSums {
    std::array<double, 4> excess{}, rounding{}, excess_rounding{};
};

// Adds a row to four sums in turn.
void add_plainly(const TallyRow::Numbers& row, std::size_t length, std::array<double, 4>& sums);

// Adds what is not compensated. An excess that may be due to underflow becomes a rounding error.
void add_plainly(TallyRow& row, std::size_t length, PlainSums& sums);

// Calls fill(i, length, row) for rows that cover [0, n). Values and conjugates are summed in the
// order of `sum_of`. The other terms, which are nonnegative, are added to four sums in turn.
template <class Fill>
Tally tally_of(std::size_t n, int n_threads, const Fill& fill) {
    const Shards shards(n);
    std::array<Tally, Shards::most> partial{};
    parallel_for(shards.count(), n_threads, [&](int shard, int) {
        Watched::look();
        CompensatedLanes values, conjugates;
        PlainSums sums;
        const std::size_t end = shards.end(shard);
        TallyRow row;
        for (std::size_t i = shards.begin(shard); i < end; i += TallyRow::most) {
            const std::size_t length = std::min(TallyRow::most, end - i);
            fill(i, length, row);
            values.add(row.value.data(), length);
            conjugates.add(row.conjugate.data(), length);
            add_plainly(row, length, sums);
        }
        Tally& total = partial[static_cast<std::size_t>(shard)];
        total.value = values.total();
        total.conjugate = conjugates.total();
        for (std::size_t k = 0; k < 4; ++k) {
            total.excess += sums.excess[k];
            total.rounding += sums.rounding[k];
            total.excess_rounding += sums.excess_rounding[k];
        }
    });
    Tally total;
    for (int shard = 0; shard < shards.count(); ++shard)
        total.add(partial[static_cast<std::size_t>(shard)]);
    return total;
}

// The same for values and excesses only, with fill(i, length, values, excess).
template <class Fill>
Tally tally_of_pairs(std::size_t n, int n_threads, const Fill& fill) {
    const Shards shards(n);
    std::array<Tally, Shards::most> partial{};
    parallel_for(shards.count(), n_threads, [&](int shard, int) {
        Watched::look();
        CompensatedLanes values;
        std::array<double, 4> excess{};
        TallyRow::Numbers value_row, excess_row;
        const std::size_t end = shards.end(shard);
        for (std::size_t i = shards.begin(shard); i < end; i += TallyRow::most) {
            const std::size_t length = std::min(TallyRow::most, end - i);
            fill(i, length, value_row.data(), excess_row.data());
            values.add(value_row.data(), length);
            add_plainly(excess_row, length, excess);
        }
        Tally& total = partial[static_cast<std::size_t>(shard)];
        total.value = values.total();
        total.excess = (excess[0] + excess[1]) + (excess[2] + excess[3]);
    });
    Tally total;
    for (int shard = 0; shard < shards.count(); ++shard)
        total.add(partial[static_cast<std::size_t>(shard)]);
    return total;
}

}  // namespace graphtv

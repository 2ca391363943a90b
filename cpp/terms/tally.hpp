// Sums of a pass over the vertices or over the edges for a certificate. With g = G_i, x = u_i
// and y = s_i, or g = F_e, x = (Ku)_e and y = p_e, the Fenchel-Young inequality says
//
//     g(x) + g*(y) - x y ≥ 0,
//
// and the sum of all these excesses is the gap, since the products cancel: ⟨u, -Kᵀp⟩ + ⟨Ku, p⟩ = 0.
// Each excess is computed without cancellation. So the gap is as accurate as its terms, however
// large the objectives or the data are in comparison.
#pragma once

#include <array>
#include <span>

#include "terms/sum.hpp"

namespace graphtv {

// Bounds on the errors of s: errors_i = unit counts_i + floor.
struct Errors {
    std::span<const double> counts;
    double unit, floor;

    double operator[](std::size_t i) const { return unit * counts[i] + floor; }
};

struct Tally {
    CompensatedSum value, conjugate, excess;  // Σ g(x), Σ g*(y) and Σ of the excess
    double rounding = 0.0;                    // bounds the errors of the first two together
    double excess_rounding = 0.0;             // bounds that of the third

    void add(const Tally& other) {
        value.add(other.value);
        conjugate.add(other.conjugate);
        excess.add(other.excess);
        rounding += other.rounding;
        excess_rounding += other.excess_rounding;
    }
};

// enter(i, tally) for i in [0, n). Values and conjugates are summed in the order of `sum_of`.
template <class Enter>
Tally tally_of(std::size_t n, int n_threads, const Enter& enter) {
    const Shards shards(n);
    std::array<Tally, Shards::most> partial{};
    parallel_for(shards.count(), n_threads, [&](int shard, int) {
        Watched::look();
        std::array<Tally, 4> lanes{};
        std::size_t i = shards.begin(shard);
        const std::size_t end = shards.end(shard);
        for (; i + 4 <= end; i += 4)
            for (std::size_t k = 0; k < 4; ++k) enter(i + k, lanes[k]);
        for (; i < end; ++i) enter(i, lanes[0]);
        for (std::size_t k = 1; k < 4; ++k) lanes[0].add(lanes[k]);
        partial[static_cast<std::size_t>(shard)] = lanes[0];
    });
    Tally total;
    for (int shard = 0; shard < shards.count(); ++shard)
        total.add(partial[static_cast<std::size_t>(shard)]);
    return total;
}

}  // namespace graphtv

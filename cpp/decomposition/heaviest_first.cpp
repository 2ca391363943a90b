#include "decomposition/heaviest_first.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace graphtv {

std::vector<EdgeIndex> heaviest_first(std::span<const double> weights,
                                      const std::function<void()>& interrupt) {
    constexpr int bits_per_pass = 11, n_passes = 6;
    constexpr std::size_t n_digits = std::size_t{1} << bits_per_pass, between_calls = 1 << 16;
    const std::size_t m = weights.size();
    // Sorting by descending weight is sorting by ascending complement of the bits; -0 counts as 0.
    const auto digit = [&](EdgeIndex e, int pass) {
        const auto bits = ~std::bit_cast<std::uint64_t>(weights[static_cast<std::size_t>(e)] + 0.0);
        return static_cast<std::size_t>(bits >> (bits_per_pass * pass)) % n_digits;
    };
    std::vector<std::array<std::size_t, n_digits>> begin(n_passes);
    std::vector<EdgeIndex> order(m), next(m);
    for (std::size_t e = 0; e < m; ++e) {
        if (e % between_calls == 0) interrupt();
        order[e] = static_cast<EdgeIndex>(e);
        for (int pass = 0; pass < n_passes; ++pass)
            ++begin[static_cast<std::size_t>(pass)][digit(order[e], pass)];
    }
    for (int pass = 0; pass < n_passes; ++pass) {
        auto& places = begin[static_cast<std::size_t>(pass)];
        if (m > 0 && places[digit(0, pass)] == m) continue;  // all digits are equal
        std::size_t total = 0;
        for (std::size_t& place : places) {
            const std::size_t count = place;
            place = total;
            total += count;
        }
        for (std::size_t i = 0; i < m; ++i) {
            if (i % between_calls == 0) interrupt();
            next[places[digit(order[i], pass)]++] = order[i];
        }
        order.swap(next);
    }
    return order;
}

}  // namespace graphtv

// Loops and sums over ranges cut into blocks of fixed size: the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "parallel/parallel_for.hpp"

namespace graphtv {

inline constexpr std::size_t block_size = 8192;

inline std::size_t n_blocks(std::size_t n) { return (n + block_size - 1) / block_size; }

// body(first, last) for the blocks of [0, n).
template <class Body>
void for_blocks(std::size_t n, int n_threads, const Body& body) {
    const auto run = [&](int task, int) {
        const auto first = static_cast<std::size_t>(task) * block_size;
        body(first, std::min(first + block_size, n));
    };
    parallel_for(static_cast<int>(n_blocks(n)), n_threads, std::cref(run));
}

// Sums term(i) over [0, n), n up to the size it was made for.
class BlockSum {
  public:
    explicit BlockSum(std::size_t largest_n) : partial_(n_blocks(largest_n)) {}

    // To the last digit, for objectives.
    template <class Term>
    double compensated(std::size_t n, int n_threads, const Term& term) {
        return sum<CompensatedSum>(n, n_threads, term);
    }

    // Fast, for norms.
    template <class Term>
    double plain(std::size_t n, int n_threads, const Term& term) {
        return sum<PlainSum>(n, n_threads, term);
    }

  private:
    // With Neumaier's compensation. Infinite terms make it NaN, but not the sum.
    struct CompensatedSum {
        double sum = 0.0, lost = 0.0;
        void add(double term) {
            const double next = sum + term;
            lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
            sum = next;
        }
        double value() const { return std::isfinite(sum) ? sum + lost : sum; }
    };
    struct PlainSum {
        double sum = 0.0;
        void add(double term) { sum += term; }
        double value() const { return sum; }
    };

    template <class Sum, class Term>
    double sum(std::size_t n, int n_threads, const Term& term) {
        for_blocks(n, n_threads, [&](std::size_t first, std::size_t last) {
            Sum block;
            for (auto i = first; i < last; ++i) block.add(term(i));
            partial_[first / block_size] = block.value();
        });
        Sum total;
        for (std::size_t b = 0; b < n_blocks(n); ++b) total.add(partial_[b]);
        return total.value();
    }

    std::vector<double> partial_;
};

}  // namespace graphtv

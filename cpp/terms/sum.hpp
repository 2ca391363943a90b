// Compensated sums (Knuth's TwoSum; Ogita, Rump and Oishi, "Accurate sum and dot product", 2005):
// as accurate as if computed in twice the precision, then rounded once. They are split into shards
// that depend only on the number of terms, so that the number of threads does not change a bit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

#include "parallel/parallel_for.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

class CompensatedSum {
  public:
    CompensatedSum() = default;
    CompensatedSum(double sum, double error) : sum_(sum), error_(error) {}

    void add(double x) {
        const double total = sum_ + x;
        const double part = total - sum_;
        error_ += (sum_ - (total - part)) + (x - part);
        sum_ = total;
    }

    void add(const CompensatedSum& other) {
        add(other.sum_);
        error_ += other.error_;
    }

    // Infinite terms give a sum of their sign, for any value of the error.
    double value() const { return std::isfinite(sum_) ? sum_ + error_ : sum_; }

  private:
    double sum_ = 0.0;
    double error_ = 0.0;
};

// Four compensated sums, to which the terms of rows are added in turn, vectorised.
class CompensatedLanes {
  public:
    void add(const double* row, std::size_t length);
    CompensatedSum total() const {
        CompensatedSum all(sums_[0], errors_[0]);
        for (std::size_t k = 1; k < sums_.size(); ++k)
            all.add(CompensatedSum(sums_[k], errors_[k]));
        return all;
    }

  private:
    std::array<double, 4> sums_{}, errors_{};
};

// Equal parts of [0, n), few enough for a fixed array of partial results.
class Shards {
  public:
    static constexpr std::size_t most = 256, least_length = 4096;

    explicit Shards(std::size_t n)
        : n_(n), length_(std::max(least_length, (n + most - 1) / most)) {}

    int count() const { return static_cast<int>((n_ + length_ - 1) / length_); }
    std::size_t begin(int shard) const { return static_cast<std::size_t>(shard) * length_; }
    std::size_t end(int shard) const { return std::min(begin(shard) + length_, n_); }

  private:
    std::size_t n_, length_;
};

// Calls body(begin, end) for every shard of [0, n) and checks the watch before each.
template <class Body>
void for_shards(std::size_t n, int n_threads, const Body& body) {
    const Shards shards(n);
    parallel_for(shards.count(), n_threads, [&](int shard, int) {
        Watched::look();
        body(shards.begin(shard), shards.end(shard));
    });
}

// The sums of the shards. sum(begin, end, lanes) adds to four sums in turn, which hides the latency
// of an addition.
template <class Sum>
CompensatedSum sum_of_shards(std::size_t n, int n_threads, const Sum& sum) {
    const Shards shards(n);
    std::array<CompensatedSum, Shards::most> partial{};
    parallel_for(shards.count(), n_threads, [&](int shard, int) {
        Watched::look();
        std::array<CompensatedSum, 4> lanes{};
        sum(shards.begin(shard), shards.end(shard), lanes);
        for (std::size_t k = 1; k < 4; ++k) lanes[0].add(lanes[k]);
        partial[static_cast<std::size_t>(shard)] = lanes[0];
    });
    CompensatedSum total;
    for (int shard = 0; shard < shards.count(); ++shard)
        total.add(partial[static_cast<std::size_t>(shard)]);
    return total;
}

// Adds term(i) for i in [begin, end).
template <class Term>
void add_in_turn(std::size_t begin, std::size_t end, std::array<CompensatedSum, 4>& lanes,
                 const Term& term) {
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4)
        for (std::size_t k = 0; k < 4; ++k) lanes[k].add(term(i + k));
    for (; i < end; ++i) lanes[0].add(term(i));
}

// Σ term(i) over [0, n), in twice the precision.
template <class Term>
CompensatedSum sum_of(std::size_t n, int n_threads, const Term& term) {
    return sum_of_shards(n, n_threads, [&](std::size_t begin, std::size_t end, auto& lanes) {
        add_in_turn(begin, end, lanes, term);
    });
}

inline constexpr std::size_t longest_row = 64;

// The same for terms that come in rows: fill(i, terms) computes those from i on, vectorised.
template <class Fill>
CompensatedSum sum_of_rows(std::size_t n, int n_threads, const Fill& fill) {
    return sum_of_shards(n, n_threads, [&](std::size_t begin, std::size_t end, auto& lanes) {
        std::array<double, longest_row> terms;
        for (std::size_t i = begin; i < end; i += longest_row) {
            const std::size_t length = std::min(longest_row, end - i);
            fill(i, std::span(terms.data(), length));
            add_in_turn(0, length, lanes, [&](std::size_t k) { return terms[k]; });
        }
    });
}

// The same without compensation, for norms in hot loops. Allocates no memory.
template <class Term>
double quick_sum_of(std::size_t n, int n_threads, const Term& term) {
    const Shards shards(n);
    std::array<double, Shards::most> partial{};
    const auto run = [&](int shard, int) {
        Watched::look();
        double sum = 0.0;
        for (auto i = shards.begin(shard); i < shards.end(shard); ++i) sum += term(i);
        partial[static_cast<std::size_t>(shard)] = sum;
    };
    parallel_for(shards.count(), n_threads, std::cref(run));
    double total = 0.0;
    for (int shard = 0; shard < shards.count(); ++shard)
        total += partial[static_cast<std::size_t>(shard)];
    return total;
}

}  // namespace graphtv

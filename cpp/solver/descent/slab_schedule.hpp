// The order in which slabs of a grid go through several iterations while they are in the cache, and
// on several threads.
//
// Two consecutive slabs form a pair. An iteration first works within pairs, then on the seams between
// them. Pair k of iteration t + 1 needs the seams k and k + 1 of iteration t. Every schedule that
// respects this order gives the same bits. Here, trapezoids that narrow with each iteration come
// first, side by side; then those that widen between them. Within a trapezoid, iteration t + 1 runs one
// pair behind iteration t.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "parallel/parallel_for.hpp"
#include "parallel/watch.hpp"

namespace graphtv {

class SlabSchedule {
  public:
    // The number of iterations that a slab goes through at once.
    static constexpr int longest = 4;

    explicit SlabSchedule(int n_pairs) : n_pairs_(n_pairs) {}

    // Calls sweep(pair, t) for all pairs and close(seam, t) for all seams 0, …, n_pairs of the
    // iterations t < n, n ≤ longest. Returns false if the watch expired on the way.
    template <class Sweep, class Close>
    bool run(int n, Watch& watch, int n_threads, const Sweep& sweep, const Close& close) const {
        const int n_parts = std::clamp(n_pairs_ / (4 * longest), 1, 4 * n_threads);
        const auto bound = [&](int part) {
            return static_cast<int>(std::int64_t{n_pairs_} * part / n_parts);
        };
        std::atomic<bool> stop = false;
        const auto run_part = [&](const Trapezoid& part, Watch* observed) {
            for (int front = part.begin; front <= part.end + 2 * n; ++front) {
                if (observed != nullptr && observed->expired()) stop = true;
                if (stop.load(std::memory_order_relaxed)) return;
                for (int t = 0; t < n; ++t) {
                    if (part.sweeps(front - t, t)) sweep(front - t, t);
                    if (part.closes(front - t, t)) close(front - t, t);
                }
            }
        };
        const auto upright = [&](int part, int worker) {
            run_part({bound(part), bound(part + 1), part > 0 ? 1 : 0, part + 1 < n_parts ? -1 : 0},
                     worker == 0 ? &watch : nullptr);
        };
        const auto hanging = [&](int part, int worker) {
            run_part({bound(part + 1), bound(part + 1), -1, 1}, worker == 0 ? &watch : nullptr);
        };
        parallel_for(n_parts, n_threads, std::cref(upright));
        parallel_for(n_parts - 1, n_threads, std::cref(hanging));
        return !stop;
    }

  private:
    // The pairs of slabs to sweep in iteration t: [begin + left t, end + right t). This includes
    // the seams between them, and the seams at both ends that belong to no other trapezoid.
    struct Trapezoid {
        int begin, end, left, right;

        bool sweeps(int pair, int t) const {
            return begin + left * t <= pair && pair < end + right * t;
        }
        bool closes(int seam, int t) const {
            return begin + left * t + (left > 0 ? 1 : 0) <= seam &&
                   seam < end + right * t + (right < 0 ? 0 : 1);
        }
    };

    int n_pairs_;
};

}  // namespace graphtv

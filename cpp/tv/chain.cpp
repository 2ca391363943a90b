#include "tv/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tv/lanes.hpp"

namespace graphtv {

namespace {

using Index = std::ptrdiff_t;

// w_k with w_{-1} = w_{n-1} = 0: the tube is closed at both ends.
struct EdgeWeights {
    const double* weights;
    Index last;

    double operator[](Index k) const { return k == last ? 0.0 : weights[k]; }
    double before(Index k) const { return k == 0 ? 0.0 : weights[k - 1]; }
};

struct UniformWeight {
    double weight;
    Index last;

    double operator[](Index k) const { return k == last ? 0.0 : weight; }
    double before(Index k) const { return k == 0 ? 0.0 : weight; }
};

// Reciprocals of short lengths: a division would sit on the scan's critical path.
constexpr Index reciprocal_limit = 512;
const std::array<double, reciprocal_limit + 1> reciprocals = [] {
    std::array<double, reciprocal_limit + 1> table{};
    for (Index i = 1; i <= reciprocal_limit; ++i)
        table[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(i);
    return table;
}();

// Four running sums: fast, and more accurate than one.
double sum(const double* first, const double* last) {
    double s[4] = {};
    for (; last - first >= 4; first += 4)
        for (int i = 0; i < 4; ++i) s[i] += first[i];
    for (; first != last; ++first) s[0] += *first;
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double range(std::span<const double> values, std::size_t step) {
    double low = values.front(), high = low;
    for (std::size_t i = step; i < values.size(); i += step) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    return high - low;
}

// No flow exceeds n times the range of f, so larger weights change nothing but the rounding.
// Returns that bound; infinity where `weight` is too small to do harm, as a few samples show.
double useful_weight(std::span<const double> f, double weight) {
    if (weight <= 1024.0 * range(f, f.size() / 16 + 1))
        return std::numeric_limits<double>::infinity();
    return static_cast<double>(f.size()) * range(f, 1);
}

}  // namespace

class ChainScan {
  public:
    template <class Weights>
    static void solve(const double* f, Weights w, Index n, double* u, ChainWorkspace& workspace) {
        Chain<Weights> chain{f, w, n, u, workspace.upper_.data(), workspace.lower_.data()};
        chain.solve();
    }
    static double* capped(ChainWorkspace& workspace) { return workspace.capped_.data(); }

  private:
    using Block = ChainWorkspace::Block;

    template <class Weights>
    struct Chain {
        const double* f;
        const Weights w;
        const Index n;
        double* u;
        Block* upper;
        Block* lower;
        Index anchor = 0;     // first vertex that is not finished
        double inflow = 0.0;  // x_{anchor - 1}

        void solve() {
            // A bend may waste this many scanned vertices per finished one before the hull takes
            // over; the hull keeps going for a stretch and hands back when its blocks are short.
            constexpr Index exchange = 3, allowance = 64, savings = 1024;
            Index balance = 0, longest = 0;
            if (is_smooth(0)) hull();
            while (anchor < n) {
                const Index start = anchor;
                const Index scanned = scan();
                if (anchor == n) break;
                const Index finished = anchor - start;
                longest = std::max(longest, scanned + finished);
                balance = std::min(balance + exchange * finished - scanned, savings);
                if (balance < -allowance - longest) {
                    hull();
                    balance = longest = 0;
                }
            }
        }

        // Finishes [anchor, end) at a common value, leaving with flow `outflow`. Values of long
        // segments are summed again: the scan's own slope has lost digits where w is much larger
        // than f.
        void finish(Index end, double outflow, double value) {
            const Index length = end - anchor;
            if (length > 8)
                value =
                    (sum(f + anchor, f + end) + (inflow - outflow)) / static_cast<double>(length);
            Index k = anchor;
            if (k + 4 <= n) {  // unconditional: what is beyond the end is written again later
                store(u + k, Lanes(value));
                store(u + k + 2, Lanes(value));
                k += 4;
            }
            for (; k < end; ++k) u[k] = value;
            anchor = end;
            inflow = outflow;
        }

        // Finishes the vertices from the anchor on whose next edge surely jumps:
        // |f_k - f_{k+1}| > w_{k-1} + 2 w_k + w_{k+1} leaves no room for another sign.
        void finish_certain_jumps() {
            for (; anchor + 1 < n; ++anchor) {
                const double drop = f[anchor] - f[anchor + 1], weight = w[anchor];
                if (!(std::abs(drop) > w.before(anchor) + 2.0 * weight + w[anchor + 1])) return;
                const double outflow = std::copysign(weight, drop);
                u[anchor] = f[anchor] + (inflow - outflow);
                inflow = outflow;
            }
        }

        // Finds the first bend after the anchor and finishes the segment before it. Lane 0 follows
        // the steepest line to the lower tube, lane 1 the same for the mirrored signal -f. Returns
        // the number of vertices scanned.
        Index scan() {
            finish_certain_jumps();
            const Index start = anchor;
            double weight = w[start];
            const double lowest = f[start] + (inflow - weight);
            if (start == n - 1) {
                finish(n, 0.0, lowest);
                return 0;
            }
            Lanes slope(lowest, -(f[start] + (inflow + weight)));
            Lanes flow(weight);                       // of the line, at the current vertex
            Lanes touch(static_cast<double>(start));  // last vertex where the line meets its tube
            for (Index k = start + 1;; ++k) {
                weight = w[k];
                flow = flow + (Lanes(f[k], -f[k]) - slope);
                if (const int bend = less(flow, Lanes(-weight))) {
                    const bool down = bend == 1;
                    const auto end = static_cast<Index>(down ? touch.first() : touch.second()) + 1;
                    finish(end, down ? w[end - 1] : -w[end - 1],
                           down ? slope.first() : -slope.second());
                    return k - start;
                }
                const Lanes excess = flow - Lanes(weight);
                const Index length = k - start + 1;
                if (length <= reciprocal_limit) {
                    const double reciprocal = reciprocals[static_cast<std::size_t>(length)];
                    slope = slope + max(excess, Lanes(0.0)) * Lanes(reciprocal);
                    flow = min(flow, Lanes(weight));
                    touch = select_less(excess, Lanes(0.0), touch, Lanes(static_cast<double>(k)));
                } else if (less(excess, Lanes(0.0)) != 3) {  // rare by now
                    const double reciprocal = 1.0 / static_cast<double>(length);
                    slope = slope + max(excess, Lanes(0.0)) * Lanes(reciprocal);
                    flow = min(flow, Lanes(weight));
                    touch = select_less(excess, Lanes(0.0), touch, Lanes(static_cast<double>(k)));
                }
                if (k == n - 1) {  // the closed end of the tube: both lines lead there
                    finish(n, 0.0, slope.first());
                    return k - start;
                }
            }
        }

        // Few turns among the next samples: the scan would start afresh all the time.
        bool is_smooth(Index k) const {
            const Index samples = std::min<Index>(n - k - 2, 32);
            Index turns = 0;
            for (Index i = k; i < k + samples; ++i)
                turns += (f[i + 1] > f[i]) != (f[i + 2] > f[i + 1]);
            return turns * 8 < samples;
        }

        // The taut string by its two hulls, from the anchor to the end, or until a stretch is over
        // and the scan is the better choice again. The last block of each hull stays in registers.
        void hull() {
            constexpr Index stretch = 4096, short_blocks = 128;
            Index reconsider = anchor + stretch;
            double weight = w[anchor];
            double up_sum = f[anchor] + (inflow + weight), low_sum = f[anchor] + (inflow - weight);
            double a = static_cast<double>(anchor), up_start = a, low_start = a;
            Index up_begin = 0, up_end = 0, low_begin = 0, low_end = 0;
            Index k = anchor;
            while (k + 1 < n) {
                ++k;
                const double now = static_cast<double>(k), next = now + 1.0;
                const double widening = w[k] - weight;
                weight = w[k];
                // Slopes of the convex minorant increase: pool the blocks that do not.
                const double up = f[k] + widening;
                if (up_sum >= up * (now - up_start)) {
                    up_sum += up;
                    for (; up_end > up_begin; --up_end) {
                        const Block& last = upper[up_end - 1];
                        if (last.sum * (next - up_start) < up_sum * (up_start - last.start)) break;
                        up_sum += last.sum;
                        up_start = last.start;
                    }
                } else {
                    upper[up_end++] = {up_sum, up_start};
                    up_sum = up;
                    up_start = now;
                }
                const double low = f[k] - widening;
                if (low_sum <= low * (now - low_start)) {
                    low_sum += low;
                    for (; low_end > low_begin; --low_end) {
                        const Block& last = lower[low_end - 1];
                        if (last.sum * (next - low_start) > low_sum * (low_start - last.start))
                            break;
                        low_sum += last.sum;
                        low_start = last.start;
                    }
                } else {
                    lower[low_end++] = {low_sum, low_start};
                    low_sum = low;
                    low_start = now;
                }
                // One line left above, and it dives below the first block of the lower hull: the
                // string follows that block. Then the same, mirrored.
                if (up_end == up_begin) {
                    for (; low_begin < low_end; ++low_begin) {
                        const double block = lower[low_begin].sum;
                        const double end =
                            low_begin + 1 < low_end ? lower[low_begin + 1].start : low_start;
                        if (block * (next - a) <= up_sum * (end - a)) break;
                        finish(static_cast<Index>(end), w[static_cast<Index>(end) - 1],
                               block / (end - a));
                        up_sum -= block;
                        up_start = a = end;
                    }
                }
                if (low_end == low_begin) {
                    for (; up_begin < up_end; ++up_begin) {
                        const double block = upper[up_begin].sum;
                        const double end =
                            up_begin + 1 < up_end ? upper[up_begin + 1].start : up_start;
                        if (block * (next - a) >= low_sum * (end - a)) break;
                        finish(static_cast<Index>(end), -w[static_cast<Index>(end) - 1],
                               block / (end - a));
                        low_sum -= block;
                        low_start = a = end;
                    }
                }
                if (k >= reconsider && k + 1 < n) {
                    if (k - anchor < short_blocks && !is_smooth(k)) return;
                    reconsider = k + stretch;
                }
            }
            finish(n, 0.0, up_sum / (static_cast<double>(n) - a));
        }
    };
};

ChainWeights ChainWeights::of(std::span<const double> values) {
    return {values, values.empty() ? 0.0 : *std::max_element(values.begin(), values.end())};
}

void ChainWorkspace::reserve(std::size_t longest) {
    if (longest <= upper_.size()) return;
    upper_.resize(longest);
    lower_.resize(longest);
    capped_.resize(longest);
}

std::size_t ChainWorkspace::n_bytes() const {
    return (upper_.capacity() + lower_.capacity()) * sizeof(Block) +
           capped_.capacity() * sizeof(double);
}

void tv_chain(std::span<const double> f, ChainWeights weights, std::span<double> u,
              ChainWorkspace& workspace) {
    const auto n = static_cast<Index>(f.size());
    if (n <= 1) {
        std::copy(f.begin(), f.end(), u.begin());
        return;
    }
    if (n == 2) {
        const double flow = std::clamp(0.5 * (f[0] - f[1]), -weights[0], weights[0]);
        u[0] = f[0] - flow;
        u[1] = std::abs(flow) < weights[0] ? u[0] : f[1] + flow;
        return;
    }
    workspace.reserve(f.size());
    const double cap = useful_weight(f, weights.largest);
    if (weights.values.size() == 1) {
        const UniformWeight w{std::min(weights.largest, cap), n - 1};
        ChainScan::solve(f.data(), w, n, u.data(), workspace);
        return;
    }
    const double* w = weights.values.data();
    if (weights.largest > cap) {
        double* capped = ChainScan::capped(workspace);
        std::transform(weights.values.begin(), weights.values.end(), capped,
                       [cap](double weight) { return std::min(weight, cap); });
        w = capped;
    }
    ChainScan::solve(f.data(), EdgeWeights{w, n - 1}, n, u.data(), workspace);
}

void tv_chain_dual(std::span<const double> f, ChainWeights weights, std::span<const double> u,
                   std::span<double> p) {
    double flow = 0.0;
    for (std::size_t k = 0; k + 1 < f.size(); ++k) {
        const double w = weights[k];
        flow += f[k] - u[k];
        if (u[k] != u[k + 1]) flow = std::copysign(w, u[k] - u[k + 1]);
        flow = std::clamp(flow, -w, w);
        p[k] = w > 0.0 ? std::clamp(flow / w, -1.0, 1.0) : 0.0;
    }
}

}  // namespace graphtv

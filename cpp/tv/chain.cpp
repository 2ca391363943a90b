#include "tv/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "tv/flow.hpp"
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

// Reciprocals of short lengths. A division would lie on the critical path of the scan. On longer
// segments a line turns so rarely that a branch is faster.
constexpr Index reciprocal_limit = 24;
const std::array<double, reciprocal_limit + 1> reciprocals = [] {
    std::array<double, reciprocal_limit + 1> table{};
    for (Index i = 1; i <= reciprocal_limit; ++i)
        table[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(i);
    return table;
}();

// Four running sums are faster and more accurate than one.
double sum(const double* first, const double* last) {
    double s[4] = {};
    for (; last - first >= 4; first += 4)
        for (int i = 0; i < 4; ++i) s[i] += first[i];
    for (; first != last; ++first) s[0] += *first;
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double range(std::span<const double> values) {
    double low = values[0], high = low;  // std::minmax_element would branch
    for (const double value : values) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    return high - low;
}

// Range of a few samples. The golden ratio spaces them, so that they do not miss a periodic signal.
double sampled_range(std::span<const double> values) {
    constexpr std::size_t n_samples = 24;
    if (values.size() <= n_samples) return range(values);
    double low = values.front(), high = low, where = 0.0;
    for (std::size_t sample = 0; sample < n_samples; ++sample) {
        where += 0.6180339887498949;
        if (where >= 1.0) where -= 1.0;
        const double value =
            values[static_cast<std::size_t>(where * static_cast<double>(values.size()))];
        low = std::min(low, value);
        high = std::max(high, value);
    }
    return high - low;
}

}  // namespace

class ChainScan {
  public:
    // `sum_again`: recompute the values of pieces by summation; see tv_chain.
    template <class Weights>
    static void solve(const double* f, Weights w, Index n, double* u, bool sum_again,
                      ChainWorkspace& workspace) {
        if (sum_again)
            Chain<Weights, true>{f, w, n, u, workspace}.solve();
        else
            Chain<Weights, false>{f, w, n, u, workspace}.solve();
    }
    static double* capped(ChainWorkspace& workspace, std::size_t n) {
        workspace.capped_.reserve(n);
        return workspace.capped_.data();
    }

  private:
    using Block = ChainWorkspace::Block;

    // The convex minorant of one side of the tube, seen from the anchor, as blocks of increasing
    // slope (sum over length). For the lower side all signs are reversed. The last block stays in
    // registers.
    struct Hull {
        Scratch<Block>& memory;
        Block* blocks;
        Index begin = 0, end = 0, limit = static_cast<Index>(ChainWorkspace::least_blocks);
        double sum, start;

        Hull(Scratch<Block>& blocks_memory, double first, double origin)
            : memory(blocks_memory), blocks(memory.data()), sum(first), start(origin) {}

        bool has_several_blocks() const { return begin < end; }
        double first_sum() const { return blocks[begin].sum; }
        double first_end() const { return begin + 1 < end ? blocks[begin + 1].start : start; }
        void drop_first() { ++begin; }
        double total() const {
            return std::accumulate(
                blocks + begin, blocks + end, sum,
                [](double partial, const Block& block) { return partial + block.sum; });
        }

        // Blocks leave at the front and arrive at the back. They are moved to the start of the
        // memory when they reach its end. The memory in use is at most twice the largest number of
        // live blocks.
        void make_room() {
            const auto room = static_cast<Index>(memory.size());
            const bool is_half_full = 2 * (end - begin) > limit;
            if (is_half_full && limit < room) {
                limit = std::min(2 * limit, room);
                return;
            }
            if (is_half_full) {
                limit = 2 * room;
                memory.grow(static_cast<std::size_t>(limit), static_cast<std::size_t>(begin),
                            static_cast<std::size_t>(end));
                blocks = memory.data();
            } else {
                std::copy(blocks + begin, blocks + end, blocks);
            }
            end -= begin;
            begin = 0;
        }

        // Adds the vertex `now` and pools the blocks whose slope would not increase.
        void add(double value, double now, double next) {
            if (sum < value * (now - start)) {
                if (end == limit) make_room();
                blocks[end++] = {sum, start};
                sum = value;
                start = now;
                return;
            }
            sum += value;
            for (; begin < end; --end) {
                const Block& last = blocks[end - 1];
                if (last.sum * (next - start) < sum * (start - last.start)) break;
                sum += last.sum;
                start = last.start;
            }
        }
    };

    template <class Weights, bool sum_again>
    struct Chain {
        const double* f;
        const Weights w;
        const Index n;
        double* u;
        ChainWorkspace& workspace;
        Index anchor = 0;     // first vertex that is not final
        double inflow = 0.0;  // x_{anchor - 1}

        void solve() {
            // If the scan needs more than this many scanned vertices per finished vertex, the hull
            // takes over. The hull runs for a stretch and hands back when its blocks are short.
            constexpr Index exchange = 3, allowance = 64, savings = 1024, short_chain = 32;
            Index balance = 0, longest = 0;
            if (n > short_chain && is_smooth(0)) hull();
            while (anchor < n) {
                const Index start = anchor;
                const Index scanned = scan();
                if (anchor == n) break;
                const Index finished = anchor - start;
                longest = std::max(longest, scanned + finished);
                balance = std::min(balance + exchange * finished - scanned, savings);
                if (balance < -allowance - longest / 2) {
                    hull();
                    balance = longest = 0;
                }
            }
        }

        // Finishes [begin, end) with a common value, given the flow on both sides.
        void finish(Index begin, Index end, double in, double out, double value) const {
            if constexpr (sum_again)
                value = (sum(f + begin, f + end) + (in - out)) / static_cast<double>(end - begin);
            if (begin + 4 <= n) {  // may write beyond the end: later segments overwrite that
                store(u + begin, Lanes(value));
                store(u + begin + 2, Lanes(value));
                begin += 4;
            }
            for (; begin < end; ++begin) u[begin] = value;
        }

        void finish_until(Index end, double outflow, double value) {
            finish(anchor, end, inflow, outflow, value);
            anchor = end;
            inflow = outflow;
        }

        // Finishes the vertices from the anchor on whose next edge is certain to jump: if |f_k -
        // f_{k+1}| > w_{k-1} + 2 w_k + w_{k+1}, the sign of the jump is that of f_k - f_{k+1}.
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
        // the steepest line to the lower tube, lane 1 does the same for the mirrored signal -f.
        // Returns the number of scanned vertices.
        Index scan() {
            finish_certain_jumps();
            const Index start = anchor;
            double weight = w[start];
            const double lowest = f[start] + (inflow - weight);
            if (start == n - 1) {
                finish_until(n, 0.0, lowest);
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
                    finish_until(end, down ? w[end - 1] : -w[end - 1],
                                 down ? slope.first() : -slope.second());
                    return k - start;
                }
                const Lanes excess = flow - Lanes(weight);
                const Index length = k - start + 1;
                // A line outside its tube is turned until it touches the tube here.
                const auto turn = [&](double reciprocal) {
                    slope = slope + max(excess, Lanes(0.0)) * Lanes(reciprocal);
                    flow = min(flow, Lanes(weight));
                    touch = select_less(excess, Lanes(0.0), touch, Lanes(static_cast<double>(k)));
                };
                if (length <= reciprocal_limit)
                    turn(reciprocals[static_cast<std::size_t>(length)]);
                else if (less(excess, Lanes(0.0)) != 3)  // rare at this point
                    turn(1.0 / static_cast<double>(length));
                if (k == n - 1) {  // the closed end of the tube: both lines lead there
                    finish_until(n, 0.0, slope.first());
                    return k - start;
                }
            }
        }

        // Few turns of the tube among the next samples: the scan would restart too often.
        bool is_smooth(Index k) const {
            const Index samples = std::min<Index>(n - k - 2, 32);
            const auto slope = [&](Index i) { return f[i] + (w[i] - w.before(i)); };
            Index turns = 0;
            for (Index i = k + 1; i < k + samples; ++i)
                turns += (slope(i) > slope(i - 1)) != (slope(i + 1) > slope(i));
            return turns * 8 < samples;
        }

        // The taut string by its two hulls, from the anchor to the end, or until a stretch is over
        // and the scan is faster again.
        void hull() {
            constexpr Index stretch = 4096, short_blocks = 128;
            Index reconsider = anchor + stretch;
            double weight = w[anchor], origin = static_cast<double>(anchor), flow = inflow;
            Hull up(workspace.upper_, f[anchor] + (flow + weight), origin);
            Hull low(workspace.lower_, -(f[anchor] + (flow - weight)), origin);
            // One hull is a single line, and this line crosses the first blocks of the other hull:
            // the string follows these blocks.
            const auto follow = [&](Hull& line, Hull& other, double sign, double next) {
                while (other.has_several_blocks()) {
                    const double block = other.first_sum(), end = other.first_end();
                    if (block * (next - origin) + line.sum * (end - origin) >= 0.0) return;
                    const auto last = static_cast<Index>(end) - 1;
                    const double out = sign * w[last];
                    finish(static_cast<Index>(origin), last + 1, flow, out,
                           -sign * block / (end - origin));
                    flow = out;
                    line.sum += block;
                    line.start = origin = end;
                    other.drop_first();
                }
            };
            for (Index k = anchor + 1; k < n; ++k) {
                const double now = static_cast<double>(k), next = now + 1.0;
                const double widening = w[k] - weight;
                weight += widening;
                up.add(f[k] + widening, now, next);
                low.add(widening - f[k], now, next);
                if (!up.has_several_blocks()) follow(up, low, 1.0, next);
                if (!low.has_several_blocks()) follow(low, up, -1.0, next);
                if (k < reconsider || k + 1 == n) continue;
                reconsider = k + stretch;
                if (next - origin < short_blocks && !is_smooth(k)) {
                    anchor = static_cast<Index>(origin);
                    inflow = flow;
                    return;
                }
            }
            // The hulls meet at the closed end: up to rounding, the rest is one line.
            finish(static_cast<Index>(origin), n, flow, 0.0,
                   up.total() / (static_cast<double>(n) - origin));
            anchor = n;
        }
    };
};

ChainWeights ChainWeights::of(std::span<const double> values) {
    return {values, values.empty() ? 0.0 : *std::max_element(values.begin(), values.end())};
}

void ChainWorkspace::reserve(std::size_t longest) {
    // Twice the number of live blocks, and at least the initial size of a hull; see
    // Hull::make_room.
    upper_.reserve(2 * longest + least_blocks);
    lower_.reserve(2 * longest + least_blocks);
    capped_.reserve(longest);
}

std::size_t ChainWorkspace::n_bytes() const {
    return upper_.n_bytes() + lower_.n_bytes() + capped_.n_bytes();
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
    // A few samples show whether the weights are large compared with the signal. If so, the slopes
    // found by the scan have lost digits, and the values of pieces are recomputed by summation.
    // Much larger weights are capped: no flow exceeds n times the range of f, so the cap affects
    // only rounding.
    const double spread = sampled_range(f);
    const bool sum_again = weights.largest > 64.0 * spread;
    const double cap = weights.largest <= 1024.0 * spread ? std::numeric_limits<double>::infinity()
                                                          : static_cast<double>(n) * range(f);
    if (cap == 0.0) {  // f is constant
        std::copy(f.begin(), f.end(), u.begin());
        return;
    }
    if (weights.values.size() == 1) {
        const UniformWeight w{std::min(weights.largest, cap), n - 1};
        ChainScan::solve(f.data(), w, n, u.data(), sum_again, workspace);
        return;
    }
    const double* w = weights.values.data();
    if (weights.largest > cap) {
        double* capped = ChainScan::capped(workspace, weights.values.size());
        std::transform(weights.values.begin(), weights.values.end(), capped,
                       [cap](double weight) { return std::min(weight, cap); });
        w = capped;
    }
    ChainScan::solve(f.data(), EdgeWeights{w, n - 1}, n, u.data(), sum_again, workspace);
}

void tv_chain_dual(std::span<const double> f, ChainWeights weights, std::span<const double> u,
                   std::span<double> p) {
    double flow = 0.0;
    for (std::size_t k = 0; k + 1 < f.size(); ++k) {
        const double w = weights[k];
        flow += f[k] - u[k];
        flow = bounded_flow(flow, w, u[k], u[k + 1]);
        p[k] = w > 0.0 ? std::clamp(flow / w, -1.0, 1.0) : 0.0;
    }
}

}  // namespace graphtv

#include "tv/warm_chains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tv/lanes.hpp"

namespace graphtv {

template <std::size_t lanes>
class WarmChains {
  public:
    WarmChains(const ChainPanel& panel, WarmChainWorkspace& workspace)
        : panel_(panel), n_(panel.length), workspace_(workspace) {}

    void solve() {
        propose();
        if (examine()) repair();
    }

    void solve_cold() {
        for (std::size_t lane = 0; lane < lanes; ++lane)
            for (std::size_t begin = 0, end = 0; begin < n_; begin = end) {
                end = end_of_chain(begin, lane);
                solve_window(begin, end, lane);
            }
    }

  private:
    using Values = Pack<lanes>;
    static constexpr double tolerance = 1.0 + 1e-12;  // of the bounds on flows

    std::size_t at(std::size_t k, std::size_t lane) const { return k * lanes + lane; }
    Values weights(std::size_t k) const {
        return panel_.has_one_weight ? Values(*panel_.weights)
                                     : Values::load(panel_.weights + k * lanes);
    }
    double weight(std::size_t k, std::size_t lane) const {
        return panel_.has_one_weight ? *panel_.weights : panel_.weights[at(k, lane)];
    }

    // The value of every piece, stored at its first vertex; u is undefined elsewhere.
    void propose() {
        const Values one(1.0);
        Values sum = Values::load(panel_.f + (n_ - 1) * lanes), length = one, outflow(0.0);
        for (std::size_t k = n_ - 1; k-- > 0;) {
            const Values jump = Values::signs(panel_.jumps + k * lanes), flow = jump * weights(k);
            ((sum + (flow - outflow)) / length).store(panel_.u + (k + 1) * lanes);
            sum = where_zero(jump, sum) + Values::load(panel_.f + k * lanes);
            length = where_zero(jump, length) + one;
            outflow = where_zero(jump, outflow) + flow;
        }
        ((sum - outflow) / length).store(panel_.u);
    }

    // Copies the values to all vertices of their pieces. Marks the edges whose flow exceeds its
    // bound or whose jump has changed its sign. False if there are none.
    bool examine() {
        std::uint8_t* failures = workspace_.failures_.data();
        const Values slack(tolerance), zero(0.0);
        Values value = Values::load(panel_.u), inflow(0.0);
        int any = 0;
        for (std::size_t k = 0; k + 1 < n_; ++k) {
            const Values jump = Values::signs(panel_.jumps + k * lanes), weight = weights(k);
            const Values across = jump * weight;
            const Values flow = inflow + (Values::load(panel_.f + k * lanes) - value);
            const Values inside = where_zero(jump, flow);
            const Values next = select_zero(jump, value, Values::load(panel_.u + (k + 1) * lanes));
            const int failed = less(weight * slack, abs(inside)) |
                               (less(jump * (value - next), zero) & less(zero, weight));
            failures[k] = static_cast<std::uint8_t>(failed);
            any |= failed;
            next.store(panel_.u + (k + 1) * lanes);
            inflow = inside + across;
            value = next;
        }
        failures[n_ - 1] = 0;
        return any != 0;
    }

    // From left to right. The vertices that a lane has passed are optimal given the flow out of
    // them.
    void repair() {
        const std::uint8_t* failures = workspace_.failures_.data();
        std::array<std::size_t, lanes> passed{};
        for (std::size_t k = 0; k + 1 < n_; ++k)
            for (unsigned failed = failures[k]; failed != 0; failed &= failed - 1) {
                const auto lane = static_cast<std::size_t>(std::countr_zero(failed));
                if (k >= passed[lane]) passed[lane] = repair_at(k, lane);
            }
    }

    // Recomputes the piece that contains an edge, or the pieces on both sides of its jump.
    // Continues with their neighbours as long as a jump towards them is reversed. Returns the end
    // of the recomputed vertices.
    std::size_t repair_at(std::size_t k, std::size_t lane) {
        std::size_t begin = begin_of_piece(k, lane), end = end_of_piece(k, lane);
        const bool is_jump = panel_.jumps[at(k, lane)] != 0;
        if (is_jump) end = end_of_piece(end, lane);
        if (!(is_jump ? merge(begin, end, lane) : split(begin, end, lane)))
            solve_window(begin, end, lane);
        for (std::size_t reach = 1;; reach *= 2) {
            const bool left = begin > 0 && is_reversed(begin - 1, lane);
            const bool right = end < n_ && is_reversed(end - 1, lane);
            if (!left && !right) return end;
            spent_[lane] += end - begin;
            if (spent_[lane] > 2 * n_) {
                begin = begin_of_chain(begin, lane);
                end = end_of_chain(end - 1, lane);
            }
            for (std::size_t i = 0; left && i < reach && !starts_chain(begin, lane); ++i)
                begin = begin_of_piece(begin - 1, lane);
            for (std::size_t i = 0; right && i < reach && !starts_chain(end, lane); ++i)
                end = end_of_piece(end, lane);
            solve_window(begin, end, lane);
        }
    }

    // In nearly all cases two pieces whose jump is reversed merge, and a piece whose flow exceeds
    // its bounds splits where the violation is largest. Both functions return false and change
    // nothing if the result would not be optimal.
    bool merge(std::size_t begin, std::size_t end, std::size_t lane) {
        const double inflow = flow_before(begin, lane);
        const double value = value_of(begin, end, inflow, flow_before(end, lane), lane);
        if (!stays_within(begin, end, inflow, value, lane)) return false;
        spread(begin, end, value, lane);
        return true;
    }

    bool split(std::size_t begin, std::size_t end, std::size_t lane) {
        const double inflow = flow_before(begin, lane), value = panel_.u[at(begin, lane)];
        double flow = inflow, across = 0.0, most = 0.0;
        std::size_t middle = begin + 1;  // where the second piece begins
        for (std::size_t k = begin; k + 1 < end; ++k) {
            flow += panel_.f[at(k, lane)] - value;
            const double excess = std::abs(flow) - weight(k, lane);
            const bool exceeds = excess > most;
            most = exceeds ? excess : most;
            middle = exceeds ? k + 1 : middle;
            across = exceeds ? flow : across;
        }
        const double through = std::copysign(weight(middle - 1, lane), across);
        const double first = value_of(begin, middle, inflow, through, lane);
        const double second = value_of(middle, end, through, flow_before(end, lane), lane);
        const bool is_solution = (first - second) * through > 0.0 &&
                                 stays_within(begin, middle, inflow, first, lane) &&
                                 stays_within(middle, end, through, second, lane);
        if (!is_solution) return false;
        spread(begin, middle, first, lane);
        spread(middle, end, second, lane);
        panel_.jumps[at(middle - 1, lane)] = through > 0.0 ? 1 : -1;
        return true;
    }

    double value_of(std::size_t begin, std::size_t end, double inflow, double outflow,
                    std::size_t lane) const {
        double sum = inflow - outflow;
        for (std::size_t k = begin; k < end; ++k) sum += panel_.f[at(k, lane)];
        return sum / static_cast<double>(end - begin);
    }

    bool stays_within(std::size_t begin, std::size_t end, double flow, double value,
                      std::size_t lane) const {
        bool within = true;
        for (std::size_t k = begin; k + 1 < end; ++k) {
            flow += panel_.f[at(k, lane)] - value;
            within &= std::abs(flow) <= weight(k, lane) * tolerance;
        }
        return within;
    }

    void spread(std::size_t begin, std::size_t end, double value, std::size_t lane) {
        for (std::size_t k = begin; k < end; ++k) {
            panel_.u[at(k, lane)] = value;
            if (k + 1 < end) panel_.jumps[at(k, lane)] = 0;
        }
    }

    // Flow into vertex k, across a jump or at the end of a lane.
    double flow_before(std::size_t k, std::size_t lane) const {
        if (k == 0 || k == n_) return 0.0;
        return panel_.jumps[at(k - 1, lane)] * weight(k - 1, lane);
    }

    bool is_reversed(std::size_t k, std::size_t lane) const {
        const double drop = panel_.u[at(k, lane)] - panel_.u[at(k + 1, lane)];
        return panel_.jumps[at(k, lane)] * drop < 0.0 && weight(k, lane) > 0.0;
    }
    std::size_t begin_of_piece(std::size_t k, std::size_t lane) const {
        while (k > 0 && panel_.jumps[at(k - 1, lane)] == 0) --k;
        return k;
    }
    std::size_t end_of_piece(std::size_t k, std::size_t lane) const {
        while (k + 1 < n_ && panel_.jumps[at(k, lane)] == 0) ++k;
        return k + 1;
    }
    // An edge of weight 0 within a chain may be treated as its end.
    bool starts_chain(std::size_t k, std::size_t lane) const {
        return k == 0 || k == n_ || weight(k - 1, lane) == 0.0;
    }
    std::size_t begin_of_chain(std::size_t k, std::size_t lane) const {
        while (!starts_chain(k, lane)) --k;
        return k;
    }
    std::size_t end_of_chain(std::size_t k, std::size_t lane) const {
        while (!starts_chain(++k, lane)) continue;
        return k;
    }

    // Solves [begin, end) with fixed flows at both ends.
    void solve_window(std::size_t begin, std::size_t end, std::size_t lane) {
        const std::size_t length = end - begin;
        double* f = workspace_.f_.data();
        double* u = lanes == 1 ? panel_.u + begin : workspace_.u_.data();
        for (std::size_t i = 0; i < length; ++i) f[i] = panel_.f[at(begin + i, lane)];
        f[0] += flow_before(begin, lane);
        f[length - 1] -= flow_before(end, lane);
        tv_chain({f, length}, weights_within(begin, end, lane), {u, length}, workspace_.cold_);
        for (std::size_t i = 0; i < length; ++i) {
            panel_.u[at(begin + i, lane)] = u[i];
            if (i + 1 < length)
                panel_.jumps[at(begin + i, lane)] =
                    static_cast<std::int8_t>((u[i] > u[i + 1]) - (u[i] < u[i + 1]));
        }
    }

    ChainWeights weights_within(std::size_t begin, std::size_t end, std::size_t lane) {
        if (panel_.has_one_weight) return {{panel_.weights, 1}, *panel_.weights};
        const std::size_t n_edges = end - begin - 1;
        if constexpr (lanes == 1) return ChainWeights::of({panel_.weights + begin, n_edges});
        double* w = workspace_.weights_.data();
        for (std::size_t i = 0; i < n_edges; ++i) w[i] = panel_.weights[at(begin + i, lane)];
        return ChainWeights::of({w, n_edges});
    }

    const ChainPanel panel_;
    const std::size_t n_;
    WarmChainWorkspace& workspace_;
    std::array<std::size_t, lanes> spent_{};  // vertices that a lane has recomputed so far
};

void WarmChainWorkspace::reserve(std::size_t length, std::size_t lanes) {
    cold_.reserve(length);
    failures_.reserve(length);
    f_.reserve(length);
    if (lanes == 1) return;
    u_.reserve(length);
    weights_.reserve(length);
}

std::size_t WarmChainWorkspace::n_bytes() const {
    return cold_.n_bytes() + failures_.n_bytes() + f_.n_bytes() + u_.n_bytes() + weights_.n_bytes();
}

template <std::size_t lanes>
void tv_chains_warm(const ChainPanel& panel, bool has_solution, WarmChainWorkspace& workspace) {
    if (panel.length == 0) return;
    WarmChains<lanes> chains(panel, workspace);
    if (has_solution)
        chains.solve();
    else
        chains.solve_cold();
}

template void tv_chains_warm<1>(const ChainPanel&, bool, WarmChainWorkspace&);
template void tv_chains_warm<chain_lanes>(const ChainPanel&, bool, WarmChainWorkspace&);

}  // namespace graphtv

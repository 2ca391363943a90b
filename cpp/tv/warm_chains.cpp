#include "tv/warm_chains.hpp"

#include <algorithm>
#include <array>
#include <bit>

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

    std::size_t at(std::size_t k, std::size_t lane) const { return k * lanes + lane; }
    Values weights(std::size_t k) const {
        return panel_.has_one_weight ? Values(*panel_.weights)
                                     : Values::load(panel_.weights + k * lanes);
    }
    double weight(std::size_t k, std::size_t lane) const {
        return panel_.has_one_weight ? *panel_.weights : panel_.weights[at(k, lane)];
    }

    // The value of every piece, at its first vertex; elsewhere u is anything.
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

    // Spreads the values over their pieces, and notes the edges whose flow exceeds its bound, to a
    // relative 1e-12, or whose jump has changed its sign. False if there are none.
    bool examine() {
        std::uint8_t* failures = workspace_.failures_.data();
        const Values tolerance(1.0 + 1e-12), zero(0.0);
        Values value = Values::load(panel_.u), inflow(0.0);
        int any = 0;
        for (std::size_t k = 0; k + 1 < n_; ++k) {
            const Values jump = Values::signs(panel_.jumps + k * lanes), weight = weights(k);
            const Values across = jump * weight;
            const Values flow = inflow + (Values::load(panel_.f + k * lanes) - value);
            const Values inside = where_zero(jump, flow);
            const Values next = select_zero(jump, value, Values::load(panel_.u + (k + 1) * lanes));
            const int failed = less(weight * tolerance, abs(inside)) |
                               less(across * (value - next), zero);
            failures[k] = static_cast<std::uint8_t>(failed);
            any |= failed;
            next.store(panel_.u + (k + 1) * lanes);
            inflow = inside + across;
            value = next;
        }
        failures[n_ - 1] = 0;
        return any != 0;
    }

    // From left to right; what a lane has passed is optimal given the flow that leaves it.
    void repair() {
        const std::uint8_t* failures = workspace_.failures_.data();
        std::array<std::size_t, lanes> passed{};
        for (std::size_t k = 0; k + 1 < n_; ++k)
            for (unsigned failed = failures[k]; failed != 0; failed &= failed - 1) {
                const auto lane = static_cast<std::size_t>(std::countr_zero(failed));
                if (k >= passed[lane]) passed[lane] = repair_at(k, lane);
            }
    }

    // Solves the piece of an edge anew, or those on both sides of its jump, and their neighbours as
    // long as a jump towards these is reversed. Returns where the vertices solved end.
    std::size_t repair_at(std::size_t k, std::size_t lane) {
        std::size_t begin = begin_of_piece(k, lane), end = end_of_piece(k, lane);
        if (panel_.jumps[at(k, lane)] != 0) end = end_of_piece(end, lane);
        for (std::size_t reach = 1;; reach *= 2) {
            solve_window(begin, end, lane);
            const bool left = begin > 0 && is_reversed(begin - 1, lane);
            const bool right = end < n_ && is_reversed(end - 1, lane);
            if (!left && !right) return end;
            spent_[lane] += end - begin;
            if (spent_[lane] > 2 * n_) {
                begin = begin_of_chain(begin, lane);
                end = end_of_chain(end - 1, lane);
                continue;
            }
            for (std::size_t i = 0; left && i < reach && !starts_chain(begin, lane); ++i)
                begin = begin_of_piece(begin - 1, lane);
            for (std::size_t i = 0; right && i < reach && !starts_chain(end, lane); ++i)
                end = end_of_piece(end, lane);
        }
    }

    bool is_reversed(std::size_t k, std::size_t lane) const {
        const double across = panel_.jumps[at(k, lane)] * weight(k, lane);
        return across * (panel_.u[at(k, lane)] - panel_.u[at(k + 1, lane)]) < 0.0;
    }
    std::size_t begin_of_piece(std::size_t k, std::size_t lane) const {
        while (k > 0 && panel_.jumps[at(k - 1, lane)] == 0) --k;
        return k;
    }
    std::size_t end_of_piece(std::size_t k, std::size_t lane) const {
        while (k + 1 < n_ && panel_.jumps[at(k, lane)] == 0) ++k;
        return k + 1;
    }
    // Weights of 0 within a chain may as well end it.
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

    // Solves [begin, end) with the flows at both ends kept.
    void solve_window(std::size_t begin, std::size_t end, std::size_t lane) {
        const auto flow_before = [&](std::size_t k) {
            return k == 0 || k == n_ ? 0.0
                                     : panel_.jumps[at(k - 1, lane)] * weight(k - 1, lane);
        };
        const std::size_t length = end - begin;
        double *f = workspace_.f_.data(), *u = workspace_.u_.data(),
               *w = workspace_.weights_.data();
        for (std::size_t i = 0; i < length; ++i) f[i] = panel_.f[at(begin + i, lane)];
        f[0] += flow_before(begin);
        f[length - 1] -= flow_before(end);
        ChainWeights inside{{panel_.weights, 1}, *panel_.weights};
        if (!panel_.has_one_weight) {
            inside = {{w, length - 1}, 0.0};
            for (std::size_t i = 0; i + 1 < length; ++i) {
                w[i] = panel_.weights[at(begin + i, lane)];
                inside.largest = std::max(inside.largest, w[i]);
            }
        }
        tv_chain({f, length}, inside, {u, length}, workspace_.cold_);
        for (std::size_t i = 0; i < length; ++i) panel_.u[at(begin + i, lane)] = u[i];
        for (std::size_t i = 0; i + 1 < length; ++i)
            panel_.jumps[at(begin + i, lane)] =
                static_cast<std::int8_t>((u[i] > u[i + 1]) - (u[i] < u[i + 1]));
    }

    const ChainPanel panel_;
    const std::size_t n_;
    WarmChainWorkspace& workspace_;
    std::array<std::size_t, lanes> spent_{};  // vertices that a lane has solved in vain
};

void WarmChainWorkspace::reserve(std::size_t length) {
    cold_.reserve(length);
    failures_.reserve(length);
    f_.reserve(length);
    u_.reserve(length);
    weights_.reserve(length);
}

std::size_t WarmChainWorkspace::n_bytes() const {
    return cold_.n_bytes() + failures_.n_bytes() + f_.n_bytes() + u_.n_bytes() +
           weights_.n_bytes();
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

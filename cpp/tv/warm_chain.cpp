#include "tv/warm_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace graphtv {

namespace {

using Index = std::int32_t;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

// Goes from left to right, old piece by old piece. The new pieces are a stack; at any time they are
// optimal for the vertices passed, given the flow that leaves the last one.
class WarmChain {
  public:
    WarmChain(std::span<const double> f, ChainWeights weights, std::span<double> u,
              ChainPieces pieces, WarmChainWorkspace& workspace)
        : n_(static_cast<Index>(f.size())),
          f_(f),
          w_(weights),
          u_(u),
          pieces_(pieces),
          workspace_(workspace) {}

    void solve() {
        const Index n_old = pieces_.count;
        if (n_old == 0) return solve_cold();
        auto& old = workspace_.old_ends_;
        std::copy_n(pieces_.ends.begin(), n_old, old.data());
        pieces_.count = 0;
        for (Index j = 0; j < n_old; ++j) {
            const Index jump = old[at(j)], end = std::abs(jump);
            Index base = pieces_.count;
            if (!confirm(end_of(base), jump)) solve_window(end_of(base), jump);
            // Where a jump has changed its sign the pieces around it are solved together, ever more
            // of them.
            for (Index reach = 1; base > 0 && is_reversed(pieces_.ends[at(base - 1)]); reach *= 2) {
                base = std::max(0, base - reach);
                pieces_.count = base;
                solve_window(end_of(base), jump);
                spent_ += end - end_of(base);
                if (is_spent()) break;
            }
            if (is_spent() || has_many_pieces()) return solve_cold();
        }
    }

  private:
    // Where the first `count` pieces end.
    Index end_of(Index count) const {
        return count == 0 ? 0 : std::abs(pieces_.ends[at(count - 1)]);
    }

    // Flow across the jump at the end of a piece; the chain is closed at both ends.
    double flow_across(Index jump) const {
        const Index end = std::abs(jump);
        if (end == 0 || end == n_) return 0.0;
        return std::copysign(w_[at(end - 1)], static_cast<double>(jump));
    }
    double inflow() const {
        return flow_across(pieces_.count == 0 ? 0 : pieces_.ends[at(pieces_.count - 1)]);
    }

    bool is_reversed(Index jump) const {
        const double drop = u_[at(std::abs(jump) - 1)] - u_[at(std::abs(jump))];
        return jump > 0 ? drop < 0.0 : drop > 0.0;
    }

    void push(Index jump) { pieces_.ends[at(pieces_.count++)] = jump; }

    bool is_spent() const { return spent_ > 2 * std::int64_t{n_}; }
    // With pieces as short as this a cold start is faster.
    bool has_many_pieces() const { return pieces_.count > n_ / 2; }

    // Takes [begin, |jump|) as one piece if its flow stays within bounds, to a relative 1e-12.
    bool confirm(Index begin, Index jump) {
        const Index end = std::abs(jump);
        const double in = inflow(), out = flow_across(jump);
        double sums[4] = {in - out, 0.0, 0.0, 0.0};
        Index k = begin;
        for (; k + 4 <= end; k += 4)
            for (Index i = 0; i < 4; ++i) sums[i] += f_[at(k + i)];
        for (; k < end; ++k) sums[0] += f_[at(k)];
        const double value =
            ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<double>(end - begin);
        double flow = in;
        bool within = true;
        for (k = begin; k + 1 < end; ++k) {
            flow += f_[at(k)] - value;
            within &= std::abs(flow) <= w_[at(k)] * (1.0 + 1e-12);
        }
        if (!within) return false;
        std::fill(u_.begin() + begin, u_.begin() + end, value);
        push(jump);
        return true;
    }

    // Solves [begin, |jump|) with the flows at both ends kept, and pushes its pieces.
    void solve_window(Index begin, Index jump) {
        const Index end = std::abs(jump);
        const auto length = at(end - begin);
        const std::span window(workspace_.window_.data(), length);
        std::copy_n(f_.begin() + begin, length, window.begin());
        window.front() += inflow();
        window.back() -= flow_across(jump);
        ChainWeights inside = w_;
        if (inside.values.size() > 1) inside.values = inside.values.subspan(at(begin), length - 1);
        tv_chain(window, inside, u_.subspan(at(begin), length), workspace_.cold_);
        push_pieces(begin, jump);
    }

    void push_pieces(Index begin, Index jump) {
        for (Index k = begin + 1; k < std::abs(jump) && !has_many_pieces(); ++k) {
            const double drop = u_[at(k - 1)] - u_[at(k)];
            if (drop != 0.0) push(drop > 0.0 ? k : -k);
        }
        push(jump);
    }

    void solve_cold() {
        tv_chain(f_, w_, u_, workspace_.cold_);
        pieces_.count = 0;
        push_pieces(0, n_);
        if (has_many_pieces()) pieces_.count = 0;
    }

    const Index n_;
    const std::span<const double> f_;
    const ChainWeights w_;
    const std::span<double> u_;
    ChainPieces pieces_;
    WarmChainWorkspace& workspace_;
    std::int64_t spent_ = 0;
};

void WarmChainWorkspace::reserve(std::size_t longest) {
    cold_.reserve(longest);
    old_ends_.reserve(longest);
    window_.reserve(longest);
}

std::size_t WarmChainWorkspace::n_bytes() const {
    return cold_.n_bytes() + old_ends_.n_bytes() + window_.n_bytes();
}

void tv_chain_warm(std::span<const double> f, ChainWeights weights, std::span<double> u,
                   ChainPieces pieces, WarmChainWorkspace& workspace) {
    if (f.empty()) return;
    workspace.reserve(f.size());
    WarmChain(f, weights, u, pieces, workspace).solve();
}

}  // namespace graphtv

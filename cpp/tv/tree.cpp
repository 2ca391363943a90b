#include "tv/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tv/flow.hpp"

namespace graphtv {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

class TreeMessages {
  public:
    TreeMessages(const RootedForest& forest, Vertex tree, std::span<const double> f,
                 std::span<const double> vertex_weights, std::span<double> u,
                 TreeWorkspace& workspace)
        : forest_(forest),
          begin_(forest.tree_begin[at(tree)]),
          end_(forest.tree_begin[at(tree) + 1]),
          f_(f),
          c_(vertex_weights),
          u_(u),
          first_slot_(2 * static_cast<std::uint32_t>(begin_)),
          knots_(workspace.knots_.data()),
          waiting_(workspace.waiting_.data()),
          runs_(workspace.runs_.data()),
          messages_(workspace.messages_.data()),
          cuts_(workspace.cuts_.data()) {}

    void solve() {
        measure();
        for (Vertex i = begin_; i + 1 < end_; ++i) {
            if (forest_.n_children[at(i)] == 0 && forest_.weight[at(i)] < largest_flow_ &&
                mass(i) > 0.0) {
                leaf(i);
                continue;
            }
            gather(i);
            if (n_runs_ - sum_.first_run == 1)
                cut(i, OneRun(knots_, runs_[sum_.first_run]));
            else
                cut(i, ManyRuns(knots_, runs_ + sum_.first_run, runs_ + n_runs_));
            messages_[n_messages_++] = sum_;
        }
        gather(end_ - 1);
        ManyRuns all(knots_, runs_ + sum_.first_run, runs_ + n_runs_);
        const Crossing zero = crossing_from_left(all, 0.0);
        // A tree without mass may take any value; use the centre.
        u_[at(end_ - 1)] = std::isfinite(zero.place) ? zero.place : 0.0;
        for (Vertex i = end_ - 2; i >= begin_; --i) {
            const auto [low, high] = cuts_[i - begin_];
            u_[at(i)] = std::min(std::max(u_[at(forest_.parent[at(i)])], low), high);
        }
        for (Vertex i = begin_; i < end_; ++i) u_[at(i)] += centre_;
    }

  private:
    using Knot = TreeWorkspace::Knot;
    using Run = TreeWorkspace::Run;
    using Line = TreeWorkspace::Line;
    using Message = TreeWorkspace::Message;
    using Cut = TreeWorkspace::Cut;

    double mass(Vertex i) const { return c_.empty() ? 1.0 : c_[at(i)]; }

    // The centre of the signal, and a bound on every flow: total mass times range.
    void measure() {
        double low = f_[at(begin_)], high = low, total = 0.0;
        for (Vertex i = begin_; i < end_; ++i) {
            low = std::min(low, f_[at(i)]);
            high = std::max(high, f_[at(i)]);
            total += mass(i);
        }
        centre_ = low + 0.5 * (high - low);
        largest_flow_ = total * (high - low);
    }

    // The message of a leaf in closed form: c (u - f), clipped to ±w.
    void leaf(Vertex i) {
        const double c = mass(i), w = forest_.weight[at(i)], f = f_[at(i)] - centre_;
        const Cut cut{f - w / c, f + w / c};
        const std::uint32_t slot = forest_.entry[at(i)] - first_slot_;
        knots_[slot] = {cut.low, c};
        knots_[slot + 1] = {cut.high, -c};
        cuts_[i - begin_] = cut;
        messages_[n_messages_++] = {{0.0, -w}, {0.0, w}, n_runs_};
        runs_[n_runs_++] = {slot, slot + 2};
    }

    // sum_ = c_i (u - f_i) + the messages of the children. It takes over their runs.
    void gather(Vertex i) {
        const double c = mass(i);
        const Line own{c, c * (centre_ - f_[at(i)])};
        sum_ = {own, own, n_runs_};
        if (const Vertex n_children = forest_.n_children[at(i)]; n_children > 0) {
            const Message* const first = messages_ + n_messages_ - n_children;
            for (const Message* child = first; child != first + n_children; ++child) {
                sum_.left.slope += child->left.slope;
                sum_.left.intercept += child->left.intercept;
                sum_.right.slope += child->right.slope;
                sum_.right.intercept += child->right.intercept;
            }
            sum_.first_run = first->first_run;
            n_messages_ -= n_children;
            if (n_runs_ - sum_.first_run > 1) merge_runs();
        } else {  // an empty run between the two places of the leaf
            const std::uint32_t slot = forest_.entry[at(i)] - first_slot_ + 1;
            runs_[n_runs_++] = {slot, slot};
        }
    }

    // The knots of the current sum, removed and added at both ends. `left` and `right` return the
    // outermost knot or null; the pops remove the knot that was returned last. The slots next to
    // the outermost runs belong to vertices that have already been processed, so they are free for
    // the pushes.
    class OneRun {
      public:
        OneRun(Knot* knots, Run& run)
            : knots_(knots), run_(run), first_(knots + run.begin), last_(knots + run.end) {}
        OneRun(const OneRun&) = delete;
        ~OneRun() {
            run_ = {static_cast<std::uint32_t>(first_ - knots_),
                    static_cast<std::uint32_t>(last_ - knots_)};
        }
        const Knot* left() const { return first_ != last_ ? first_ : nullptr; }
        const Knot* right() const { return first_ != last_ ? last_ - 1 : nullptr; }
        void pop_left() { ++first_; }
        void pop_right() { --last_; }
        void push_left(Knot knot) { *--first_ = knot; }
        void push_right(Knot knot) { *last_++ = knot; }

      private:
        Knot* const knots_;
        Run& run_;
        Knot *first_, *last_;
    };

    class ManyRuns {
      public:
        ManyRuns(Knot* knots, Run* begin, Run* end) : knots_(knots), begin_(begin), end_(end) {}
        const Knot* left() {
            const Knot* best = nullptr;
            for (Run* run = begin_; run != end_; ++run) {
                const Knot* knot = knots_ + run->begin;
                if (run->begin == run->end || (best && best->place <= knot->place)) continue;
                best = knot;
                chosen_ = run;
            }
            return best;
        }
        const Knot* right() {
            const Knot* best = nullptr;
            for (Run* run = begin_; run != end_; ++run) {
                if (run->begin == run->end) continue;
                const Knot* knot = knots_ + run->end - 1;
                if (best && best->place > knot->place) continue;
                best = knot;
                chosen_ = run;
            }
            return best;
        }
        void pop_left() { ++chosen_->begin; }
        void pop_right() { --chosen_->end; }
        void push_left(Knot knot) { knots_[--begin_->begin] = knot; }
        void push_right(Knot knot) { knots_[end_[-1].end++] = knot; }

      private:
        Knot* const knots_;
        Run *const begin_, *const end_;
        Run* chosen_ = nullptr;
    };

    struct Crossing {
        double slope;  // of the sum between `place` and the remaining knots
        double place;
    };

    // Where the sum reaches a level; removes all knots before that place. The result is clamped
    // between the adjacent knots, so that rounding cannot change their order. If c = 0 the sum may
    // be flat there: then it is the last knot removed, or infinite if there is none.
    template <class Knots>
    Crossing crossing_from_left(Knots& knots, double level) const {
        auto [slope, intercept] = sum_.left;
        double previous = -infinity, next = infinity;
        for (const Knot* knot; (knot = knots.left()); knots.pop_left()) {
            next = knot->place;
            if (slope * next + intercept >= level) break;
            slope += knot->slope;
            intercept -= knot->slope * next;
            previous = std::exchange(next, infinity);
        }
        if (!(slope > 0.0)) return {0.0, previous};
        return {slope, std::min(std::max((level - intercept) / slope, previous), next)};
    }

    template <class Knots>
    Crossing crossing_from_right(Knots& knots, double level) const {
        auto [slope, intercept] = sum_.right;
        double previous = infinity, next = -infinity;
        for (const Knot* knot; (knot = knots.right()); knots.pop_right()) {
            next = knot->place;
            if (slope * next + intercept <= level) break;
            slope -= knot->slope;
            intercept += knot->slope * next;
            previous = std::exchange(next, -infinity);
        }
        if (!(slope > 0.0)) return {0.0, previous};
        return {slope, std::max(std::min((level - intercept) / slope, previous), next)};
    }

    // Clips the sum to ±w and records where. If c = 0 the sum may be flat and within ±w already.
    template <class Knots>
    void cut(Vertex i, Knots&& knots) {
        const double w = forest_.weight[at(i)];
        Cut& cut = cuts_[i - begin_];
        cut = {-infinity, infinity};
        if (w >= largest_flow_) return;
        const Crossing low = crossing_from_left(knots, -w);
        const Crossing high = crossing_from_right(knots, w);
        if (low.place > -infinity) {
            cut.low = low.place;
            sum_.left = {0.0, -w};
            knots.push_left({cut.low, low.slope});
        }
        if (high.place < infinity) {
            cut.high = std::max(high.place, cut.low);
            sum_.right = {0.0, w};
            knots.push_right({cut.high, -high.slope});
        }
    }

    // Restores the invariant that every run is much longer than the next. Tiny runs are merged at
    // once.
    void merge_runs() {
        constexpr std::size_t ratio = 4, tiny = 64;
        std::uint32_t top = sum_.first_run;
        for (std::uint32_t next = top + 1; next < n_runs_; ++next) {
            runs_[++top] = runs_[next];
            while (top > sum_.first_run &&
                   size(runs_[top - 1]) <= ratio * size(runs_[top]) + tiny) {
                runs_[top - 1] = merge(runs_[top - 1], runs_[top]);
                --top;
            }
        }
        n_runs_ = top + 1;
    }

    static std::size_t size(Run run) { return run.end - run.begin; }

    // Merges two runs, a before b in memory, within [a.begin, b.end). The shorter run is copied to
    // scratch memory; the unaffected part of the longer one does not move.
    Run merge(Run a, Run b) {
        if (size(b) == 0) return a;
        if (size(a) == 0) return b;
        return size(b) <= size(a) ? merge_into_first(a, b) : merge_into_second(a, b);
    }

    Run merge_into_first(Run a, Run b) {
        std::copy(knots_ + b.begin, knots_ + b.end, waiting_);
        const Knot* from = waiting_ + size(b);
        const Run merged{a.begin, a.end + static_cast<std::uint32_t>(size(b))};
        Knot* to = knots_ + merged.end;
        Knot* const stop = knots_ + a.begin;
        Knot* keep = knots_ + a.end;
        while (from != waiting_) {
            const double place = from[-1].place;
            while (keep != stop && keep[-1].place > place) *--to = *--keep;
            *--to = *--from;
        }
        return merged;
    }

    Run merge_into_second(Run a, Run b) {
        std::copy(knots_ + a.begin, knots_ + a.end, waiting_);
        const Knot* from = waiting_;
        const Knot* const from_end = waiting_ + size(a);
        const Run merged{b.begin - static_cast<std::uint32_t>(size(a)), b.end};
        Knot* to = knots_ + merged.begin;
        Knot* const stop = knots_ + b.end;
        Knot* keep = knots_ + b.begin;
        while (from != from_end) {
            const double place = from->place;
            while (keep != stop && keep->place < place) *to++ = *keep++;
            *to++ = *from++;
        }
        return merged;
    }

    const RootedForest& forest_;
    const Vertex begin_, end_;
    const std::span<const double> f_, c_;
    const std::span<double> u_;
    const std::uint32_t first_slot_;
    Knot* const knots_;
    Knot* const waiting_;
    Run* const runs_;
    Message* const messages_;
    Cut* const cuts_;

    double centre_ = 0.0, largest_flow_ = 0.0;
    Message sum_{};
    std::uint32_t n_runs_ = 0;
    std::ptrdiff_t n_messages_ = 0;
};

void TreeWorkspace::reserve(std::size_t largest_tree) {
    knots_.reserve(2 * largest_tree);
    waiting_.reserve(largest_tree);
    runs_.reserve(largest_tree);
    messages_.reserve(largest_tree);
    cuts_.reserve(largest_tree);
}

std::size_t TreeWorkspace::n_bytes() const {
    return knots_.n_bytes() + waiting_.n_bytes() + runs_.n_bytes() + messages_.n_bytes() +
           cuts_.n_bytes();
}

void tv_tree(const RootedForest& forest, Vertex t, std::span<const double> f,
             std::span<const double> vertex_weights, std::span<double> u,
             TreeWorkspace& workspace) {
    workspace.reserve(at(forest.tree_begin[at(t) + 1] - forest.tree_begin[at(t)]));
    TreeMessages(forest, t, f, vertex_weights, u, workspace).solve();
}

void TreeRefinement::operator()(const RootedForest& forest, Vertex t, std::span<const double> f,
                                std::span<const double> vertex_weights, std::span<double> u) {
    const Vertex begin = forest.tree_begin[at(t)], end = forest.tree_begin[at(t) + 1];
    // Sums deviations from the old value instead of f, since they are small. The sum of a piece is
    // collected at its top vertex, where size_ has the sign of the drop to the parent; infinity
    // marks all other vertices. A piece without mass keeps its value.
    for (Vertex i = begin; i < end; ++i) {
        const double c = vertex_weights.empty() ? 1.0 : vertex_weights[at(i)];
        sum_[at(i - begin)] = c * (f[at(i)] - u[at(i)]);
        size_[at(i - begin)] = c;
    }
    const auto change = [&](Vertex i) {
        const double size = std::abs(size_[at(i - begin)]);
        return size > 0.0 ? sum_[at(i - begin)] / size : 0.0;
    };
    for (Vertex i = begin; i + 1 < end; ++i) {
        const auto here = at(i - begin), above = at(forest.parent[at(i)] - begin);
        const double drop = u[at(i)] - u[at(forest.parent[at(i)])];
        if (drop == 0.0) {
            sum_[above] += sum_[here];
            size_[above] += size_[here];
            size_[here] = infinity;
        } else {
            const double flow = std::copysign(forest.weight[at(i)], drop);
            sum_[here] -= flow;
            sum_[above] += flow;
            size_[here] = std::copysign(size_[here], drop);
        }
    }
    u[at(end - 1)] += change(end - 1);
    for (Vertex i = end - 2; i >= begin; --i) {
        const double size = size_[at(i - begin)], above = u[at(forest.parent[at(i)])];
        if (size == infinity) {
            u[at(i)] = above;
            continue;
        }
        // Rounding must not turn a tie into a jump against the flow.
        const double value = u[at(i)] + change(i);
        u[at(i)] = !std::signbit(size) ? std::max(value, above) : std::min(value, above);
    }
}

void tv_tree_dual(const RootedForest& forest, Vertex t, std::span<const double> f,
                  std::span<const double> vertex_weights, EdgePenalty penalty,
                  std::span<const double> u, std::span<double> p) {
    const double delta = penalty.delta;
    const Vertex begin = forest.tree_begin[at(t)], end = forest.tree_begin[at(t) + 1];
    // p holds the excess of each subtree until its root is reached, and then flow / weight.
    for (Vertex i = begin; i < end; ++i) {
        const double c = vertex_weights.empty() ? 1.0 : vertex_weights[at(i)];
        p[at(i)] = c * (f[at(i)] - u[at(i)]);
    }
    for (Vertex i = begin; i + 1 < end; ++i) {
        const double w = forest.weight[at(i)];
        const double above = u[at(forest.parent[at(i)])];
        const double drop = u[at(i)] - above;
        const double rounding = 1e-14 * w * (std::abs(u[at(i)]) + std::abs(above));
        const bool is_quadratic = penalty.is_huber() && w * std::abs(drop) < delta + rounding;
        const double c = vertex_weights.empty() ? 1.0 : vertex_weights[at(i)];
        if (is_quadratic && w / delta * w < c) {
            // Computing p from the difference of u has less rounding error than from the
            // conservation of f - u.
            p[at(i)] = std::clamp(w * drop / delta, -1.0, 1.0);
            p[at(forest.parent[at(i)])] += w * p[at(i)];
            continue;
        }
        const double flow =
            is_quadratic ? std::clamp(p[at(i)], -w, w) : bounded_flow(p[at(i)], w, u[at(i)], above);
        p[at(forest.parent[at(i)])] += flow;
        p[at(i)] = w > 0.0 ? std::clamp(flow / w, -1.0, 1.0) : 0.0;
    }
    p[at(end - 1)] = 0.0;
}

}  // namespace graphtv

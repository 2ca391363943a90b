#include "tv/huber.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace graphtv {

namespace {

std::size_t at(Vertex i) { return static_cast<std::size_t>(i); }

}  // namespace

class HuberNewton {
  public:
    HuberNewton(const RootedForest& forest, Vertex t, std::span<const double> f,
                std::span<const double> vertex_weights, double delta, std::span<double> u,
                HuberWorkspace& workspace)
        : begin_(at(forest.tree_begin[at(t)])),
          size_(at(forest.tree_begin[at(t) + 1]) - begin_),
          forest_(forest),
          f_(f.subspan(begin_, size_)),
          c_(vertex_weights.empty() ? vertex_weights : vertex_weights.subspan(begin_, size_)),
          delta_(delta),
          u_(u.subspan(begin_, size_)),
          step_(workspace.step_.data(), size_),
          pivot_(workspace.pivot_.data(), size_),
          zone_(workspace.zone_.data(), size_) {
        const auto [low, high] = std::minmax_element(f_.begin(), f_.end());
        centre_ = *low + 0.5 * (*high - *low);
        resolution_ = 4.0 * std::numeric_limits<double>::epsilon() * (*high - *low);
    }

    // Improves u, an initial guess.
    void solve() {
        // Finite in exact arithmetic; the hardest chains seen took some hundred steps.
        constexpr int step_limit = 10000;
        for (double& value : u_) value -= centre_;
        bool settled = false;
        for (int n_steps = 0; !settled; ++n_steps) {
            if (n_steps == step_limit)
                throw std::runtime_error("Huber total variation did not settle");
            classify();
            find_step();
            const double length = line_search();
            double farthest = 0.0;
            for (std::size_t i = 0; i < size_; ++i) {
                const double move = length * step_[i];
                u_[i] += move;
                farthest = std::max(farthest, std::abs(move));
            }
            // A full step inside the zones it was computed for ends at the minimiser. Moves lost in
            // rounding would go on for ever.
            settled = (length == 1.0 && zones_hold()) || farthest <= resolution_;
        }
        for (double& value : u_) value += centre_;
    }

  private:
    double mass(std::size_t i) const { return c_.empty() ? 1.0 : c_[i]; }
    double weight(std::size_t i) const { return forest_.weight[begin_ + i]; }
    std::size_t parent(std::size_t i) const { return at(forest_.parent[begin_ + i]) - begin_; }
    bool is_root(std::size_t i) const { return i + 1 == size_; }

    // w Δu on the edge to the parent, and no more than rounding counts as none.
    double stretch(std::size_t i) const {
        const double drop = u_[i] - u_[parent(i)];
        return std::abs(drop) <= resolution_ ? 0.0 : weight(i) * drop;
    }

    // 0: the edge to the parent is quadratic; ±1: it is linear, with that slope.
    void classify() {
        for (std::size_t i = 0; !is_root(i); ++i) {
            const double x = stretch(i);
            zone_[i] = static_cast<signed char>((x >= delta_) - (x <= -delta_));
        }
    }

    // After a step, up to rounding at the kinks of h.
    bool zones_hold() const {
        for (std::size_t i = 0; !is_root(i); ++i) {
            const double x = stretch(i), slack = 1e-12 * delta_ + 4.0 * weight(i) * resolution_;
            if (zone_[i] == 0 ? std::abs(x) > delta_ + slack : zone_[i] * x < delta_ - slack)
                return false;
        }
        return true;
    }

    // Share of its parent's movement that a vertex on a quadratic edge follows: k / (k + pivot) for
    // the stiffness k = w² / δ, without the overflow.
    double share(std::size_t i) const {
        return 1.0 / (1.0 + pivot_[i] / weight(i) * (delta_ / weight(i)));
    }

    // The Newton step v - u, where v minimises the quadratic that the zones stand for:
    // (C + Σ_quadratic w²/δ ∇_eᵀ∇_e) v = C f - Σ_linear ±w ∇_eᵀ, by elimination from leaves to
    // root.
    void find_step() {
        for (std::size_t i = 0; i < size_; ++i) {
            pivot_[i] = mass(i);
            step_[i] = mass(i) * (f_[i] - centre_);
        }
        for (std::size_t i = 0; !is_root(i); ++i) {
            if (zone_[i] != 0) {
                step_[i] -= zone_[i] * weight(i);
                step_[parent(i)] += zone_[i] * weight(i);
            } else {
                const double s = share(i);
                pivot_[parent(i)] += s * pivot_[i];
                step_[parent(i)] += s * step_[i];
            }
        }
        for (std::size_t i = size_; i-- > 0;) {
            step_[i] /= pivot_[i];
            if (is_root(i) || zone_[i] != 0) continue;
            const double s = share(i);
            step_[i] = (1.0 - s) * step_[i] + s * step_[parent(i)];
        }
        for (std::size_t i = 0; i < size_; ++i) step_[i] -= u_[i];
    }

    // Derivative of the objective along the step at u + t step: increasing in t.
    double slope(double t) const {
        double total = 0.0;
        for (std::size_t i = 0; i < size_; ++i) {
            total += mass(i) * (u_[i] + t * step_[i] - (f_[i] - centre_)) * step_[i];
            if (is_root(i)) continue;
            const double rate = weight(i) * (step_[i] - step_[parent(i)]);
            total += std::clamp((stretch(i) + t * rate) / delta_, -1.0, 1.0) * rate;
        }
        return total;
    }

    // The full step unless the objective has begun to rise by then; otherwise close to its minimum
    // along the line, by false position kept away from the ends.
    double line_search() const {
        const double at_zero = slope(0.0);
        double low = 0.0, high = 1.0, at_low = at_zero, at_high = slope(1.0);
        if (!(at_high > 1e-3 * std::abs(at_zero))) return 1.0;
        double t = 0.5;
        for (int trial = 0; trial < 40; ++trial) {
            const double margin = 0.1 * (high - low);
            t = std::clamp(low - at_low * (high - low) / (at_high - at_low), low + margin,
                           high - margin);
            const double now = slope(t);
            if (std::abs(now) <= 1e-2 * std::abs(at_zero)) break;
            (now > 0.0 ? high : low) = t;
            (now > 0.0 ? at_high : at_low) = now;
        }
        return t;
    }

    const std::size_t begin_, size_;
    const RootedForest& forest_;
    const std::span<const double> f_, c_;
    const double delta_;
    const std::span<double> u_;
    const std::span<double> step_;  // and before that the right-hand side
    const std::span<double> pivot_;
    const std::span<signed char> zone_;
    double centre_, resolution_;
};

void HuberWorkspace::reserve(std::size_t largest_tree) {
    tree_.reserve(largest_tree);
    step_.reserve(largest_tree);
    pivot_.reserve(largest_tree);
    zone_.reserve(largest_tree);
}

std::size_t HuberWorkspace::n_bytes() const {
    return tree_.n_bytes() + step_.n_bytes() + pivot_.n_bytes() + zone_.n_bytes();
}

void huber_tree(const RootedForest& forest, Vertex t, std::span<const double> f,
                std::span<const double> vertex_weights, double delta, std::span<double> u,
                HuberWorkspace& workspace) {
    workspace.reserve(at(forest.tree_begin[at(t) + 1] - forest.tree_begin[at(t)]));
    tv_tree(forest, t, f, vertex_weights, u, workspace.tree_);
    HuberNewton(forest, t, f, vertex_weights, delta, u, workspace).solve();
}

}  // namespace graphtv

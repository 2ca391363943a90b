#include "tv/huber.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace graphtv {

class HuberNewton {
  public:
    HuberNewton(const HuberProblem& problem, std::span<double> u, HuberWorkspace& workspace)
        : problem_(problem),
          resolution_(4.0 * std::numeric_limits<double>::epsilon() * problem.range),
          u_(u),
          step_(workspace.step_.data(), problem.size),
          pivot_(workspace.pivot_.data(), problem.size),
          zone_(workspace.zone_.data(), problem.size) {}

    // Improves u, an approximate minimiser of the centred problem. Returns false if it has not
    // converged within `step_limit` steps.
    bool solve(int step_limit) {
        classify();
        return solve_from_zones(step_limit);
    }

    // The same, but the first step uses the given zones.
    bool solve_from_zones(int step_limit) {
        bool settled = false;
        for (int n_steps = 0; n_steps < step_limit && !settled; ++n_steps) {
            if (n_steps > 0) classify();
            find_step();
            const double length = line_search();
            double farthest = 0.0;
            for (std::size_t i = 0; i < problem_.size; ++i) {
                const double move = length * step_[i];
                u_[i] += move;
                farthest = std::max(farthest, std::abs(move));
            }
            // A full step that stays inside its zones ends at the minimiser. Moves below rounding
            // are also the end: they could continue for ever.
            settled = (length == 1.0 && zones_hold()) || farthest <= resolution_;
        }
        return settled;
    }

    // At a vertex whose quadratic edges have a total stiffness w²/δ below its mass, f - C⁻¹Kᵀp with
    // p from u is closer to the minimiser than u. It keeps all digits of f, whereas u was centred.
    // This matters where weights are so small that u differs from f only in its last digits or not
    // at all. If the two values differ by more than rounding, rounding alone decided some zones,
    // and u is kept.
    void settle(std::span<const double> f) {
        const std::span<double> flow = step_, stiffness = pivot_;
        std::fill(flow.begin(), flow.end(), 0.0);
        std::fill(stiffness.begin(), stiffness.end(), 0.0);
        for (std::size_t i = 0; !problem_.is_root(i); ++i) {
            const double w = problem_.weight(i), p = stretch(i) / problem_.delta;
            const double spring = std::abs(p) < 1.0 ? w / problem_.delta * w : 0.0;
            const double x = std::clamp(p, -1.0, 1.0) * w;
            flow[i] += x;
            flow[problem_.parent(i)] -= x;
            stiffness[i] += spring;
            stiffness[problem_.parent(i)] += spring;
        }
        for (std::size_t i = 0; i < problem_.size; ++i) {
            const double before = u_[i] + problem_.centre,
                         after = f[i] - flow[i] / problem_.mass(i);
            const bool is_loose = stiffness[i] <= problem_.mass(i);
            u_[i] = is_loose && std::abs(after - before) <= resolution_ ? after : before;
        }
    }

  private:
    // w Δu on the edge to the parent; differences of the size of rounding count as zero.
    double stretch(std::size_t i) const {
        const double drop = problem_.drop(u_, i);
        return std::abs(drop) <= resolution_ ? 0.0 : problem_.weight(i) * drop;
    }

    // 0: the edge to the parent is quadratic; ±1: it is linear, with that slope.
    void classify() {
        for (std::size_t i = 0; !problem_.is_root(i); ++i) {
            const double x = stretch(i);
            zone_[i] = static_cast<signed char>((x >= problem_.delta) - (x <= -problem_.delta));
        }
    }

    // Whether the zones are still correct after a step, up to rounding at the kinks of h.
    bool zones_hold() const {
        const double delta = problem_.delta;
        for (std::size_t i = 0; !problem_.is_root(i); ++i) {
            const double x = stretch(i);
            const double slack = 1e-12 * delta + 4.0 * problem_.weight(i) * resolution_;
            if (zone_[i] == 0 ? std::abs(x) > delta + slack : zone_[i] * x < delta - slack)
                return false;
        }
        return true;
    }

    // The Newton step v - u, where v minimises the quadratic function that the zones define:
    // (C + Σ_quadratic w²/δ ∇_eᵀ∇_e) v = C f - Σ_linear ±w ∇_eᵀ.
    void find_step() {
        for (std::size_t i = 0; i < problem_.size; ++i)
            step_[i] = problem_.mass(i) * problem_.signal(i);
        for (std::size_t i = 0; !problem_.is_root(i); ++i) {
            step_[i] -= zone_[i] * problem_.weight(i);
            step_[problem_.parent(i)] += zone_[i] * problem_.weight(i);
        }
        const auto softness = [&](std::size_t i) {
            return zone_[i] == 0 ? problem_.delta : std::numeric_limits<double>::infinity();
        };
        problem_.solve_springs(softness, step_, pivot_);
        for (std::size_t i = 0; i < problem_.size; ++i) step_[i] -= u_[i];
    }

    // Derivative of the objective along the step, at u + t step. It increases with t.
    double slope(double t) const {
        double total = 0.0;
        for (std::size_t i = 0; i < problem_.size; ++i) {
            total += problem_.mass(i) * (u_[i] + t * step_[i] - problem_.signal(i)) * step_[i];
            if (problem_.is_root(i)) continue;
            const double rate = problem_.weight(i) * problem_.drop(step_, i);
            total += std::clamp((stretch(i) + t * rate) / problem_.delta, -1.0, 1.0) * rate;
        }
        return total;
    }

    // Returns the full step if the objective still decreases there, or if it does not decrease at
    // all: then the step is rounding. Otherwise returns a point close to the minimum along the line,
    // by safeguarded false position.
    double line_search() const {
        const double at_zero = slope(0.0);
        double low = 0.0, high = 1.0, at_low = at_zero, at_high = slope(1.0);
        if (!(at_zero < 0.0) || !(at_high > 1e-3 * std::abs(at_zero))) return 1.0;
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

    const HuberProblem& problem_;
    const double resolution_;
    const std::span<double> u_;
    const std::span<double> step_;  // first used for the right-hand side
    const std::span<double> pivot_;
    const std::span<signed char> zone_;
};

void HuberWorkspace::reserve(std::size_t largest_tree) {
    tree_.reserve(largest_tree);
    interior_.reserve(largest_tree);
    step_.reserve(largest_tree);
    pivot_.reserve(largest_tree);
    zone_.reserve(largest_tree);
}

std::size_t HuberWorkspace::n_bytes() const {
    return tree_.n_bytes() + interior_.n_bytes() + step_.n_bytes() + pivot_.n_bytes() +
           zone_.n_bytes();
}

void huber_tree(const RootedForest& forest, Vertex t, std::span<const double> f,
                std::span<const double> vertex_weights, double delta, std::span<double> u,
                HuberWorkspace& workspace) {
    constexpr int few = 12, many = 10000;  // finite in exact arithmetic
    const HuberProblem problem(forest, t, f, vertex_weights, delta);
    workspace.reserve(problem.size);
    tv_tree(forest, t, f, vertex_weights, u, workspace.tree_);
    const std::span<double> part = problem.part_of(u);
    for (double& value : part) value -= problem.centre;
    HuberNewton newton(problem, part, workspace);
    if (!newton.solve(few)) {
        workspace.interior_.solve(problem, part, {workspace.zone_.data(), problem.size},
                                  {workspace.pivot_.data(), problem.size});
        if (!newton.solve_from_zones(many))
            throw std::runtime_error("Huber total variation did not settle");
    }
    newton.settle(problem.part_of(f));
}

}  // namespace graphtv

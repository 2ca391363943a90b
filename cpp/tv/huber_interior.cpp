#include "tv/huber_interior.hpp"

#include <algorithm>
#include <cmath>

namespace graphtv {

void HuberInterior::reserve(std::size_t largest_tree) {
    edges_.reserve(largest_tree);
    du_.reserve(largest_tree);
    rhs_.reserve(largest_tree);
    softness_.reserve(largest_tree);
}

std::size_t HuberInterior::n_bytes() const {
    return edges_.n_bytes() + du_.n_bytes() + rhs_.n_bytes() + softness_.n_bytes();
}

void HuberInterior::solve(const HuberProblem& problem, std::span<double> u,
                          std::span<signed char> zone, std::span<double> pivot) {
    constexpr int step_limit = 80;
    constexpr double tolerance = 1e-22;  // small enough to identify weakly active edges
    const std::size_t n_edges = problem.size - 1;
    for (std::size_t i = 0; i < problem.size; ++i) u[i] = problem.signal(i);
    double scale = problem.delta;  // of the multipliers
    for (std::size_t i = 0; i < n_edges; ++i)
        scale += problem.weight(i) * std::abs(problem.drop(u, i)) / static_cast<double>(n_edges);
    for (std::size_t i = 0; i < n_edges; ++i) edges_[i] = {1.0, 1.0, scale, scale, 0.0, 0.0, 0.0};

    const auto complementarity = [&](double t) {
        double total = 0.0;
        for (std::size_t i = 0; i < n_edges; ++i) {
            const Barrier& e = edges_[i];
            total += (e.above - t * e.dp) * (e.z_above + t * e.dz_above) +
                     (e.below + t * e.dp) * (e.z_below + t * e.dz_below);
        }
        return total / (2.0 * static_cast<double>(n_edges));
    };
    double mu = complementarity(0.0);
    const double enough = tolerance * mu;
    bool advances = true;
    for (int step = 0; advances && mu > enough && step < step_limit; ++step) {
        find_step(problem, u, {0.0, false}, pivot);
        const double reduction = complementarity(longest_step(n_edges)) / mu;
        find_step(problem, u, {reduction * reduction * reduction * mu, true}, pivot);
        const double t = 0.995 * longest_step(n_edges);
        advances = t > 1e-6;
        for (std::size_t i = 0; i < n_edges; ++i) {
            Barrier& e = edges_[i];
            e.above -= t * e.dp;
            e.below += t * e.dp;
            e.z_above += t * e.dz_above;
            e.z_below += t * e.dz_below;
        }
        for (std::size_t i = 0; i < problem.size; ++i) u[i] += t * du_[i];
        for (Barrier* e = edges_.data(); e != edges_.data() + n_edges; ++e)
            e->dp = e->dz_above = e->dz_below = 0.0;
        mu = complementarity(0.0);
    }
    // In the limit, a distance or its multiplier is zero.
    for (std::size_t i = 0; i < n_edges; ++i) {
        const Barrier& e = edges_[i];
        zone[i] =
            static_cast<signed char>((scale * e.above < e.z_above) - (scale * e.below < e.z_below));
    }
}

// Newton's step for the perturbed conditions -Ku + δp + z⁺ - z⁻ = 0, z±(1 ∓ p) = μ with u = f - C⁻¹Kᵀp.
// Eliminating z and p: (C + KᵀE⁻¹K) Δu = -KᵀE⁻¹g, Δp = E⁻¹(g + KΔu), E = δ + z⁺/(1-p) + z⁻/(1+p).
void HuberInterior::find_step(const HuberProblem& problem, std::span<const double> u, Target target,
                              std::span<double> pivot) {
    const std::size_t n_edges = problem.size - 1;
    const std::span<double> du(du_.data(), problem.size);
    std::fill(du.begin(), du.end(), 0.0);
    const auto wanted = [&](const Barrier& e) {
        struct {
            double above, below;
        } products{target.mu, target.mu};
        if (target.corrected) {
            products.above += e.dp * e.dz_above;
            products.below -= e.dp * e.dz_below;
        }
        return products;
    };
    for (std::size_t i = 0; i < n_edges; ++i) {
        const Barrier& e = edges_[i];
        const double w = problem.weight(i);
        const auto [above, below] = wanted(e);
        softness_[i] = problem.delta + e.z_above / e.above + e.z_below / e.below;
        rhs_[i] =
            w * problem.drop(u, i) - problem.delta * e.p() - above / e.above + below / e.below;
        const double flow = w * (rhs_[i] / softness_[i]);
        du[i] -= flow;
        du[problem.parent(i)] += flow;
    }
    problem.solve_springs([&](std::size_t i) { return softness_[i]; }, du, pivot);
    for (std::size_t i = 0; i < n_edges; ++i) {
        Barrier& e = edges_[i];
        const auto [above, below] = wanted(e);
        const double dp = (rhs_[i] + problem.weight(i) * problem.drop(du, i)) / softness_[i];
        e.dz_above = (above - e.z_above * e.above + e.z_above * dp) / e.above;
        e.dz_below = (below - e.z_below * e.below - e.z_below * dp) / e.below;
        e.dp = dp;
    }
}

// The longest step in [0, 1] that keeps all distances and multipliers nonnegative.
double HuberInterior::longest_step(std::size_t n_edges) const {
    double t = 1.0;
    const auto keep = [&t](double value, double change) {
        if (value + t * change < 0.0) t = -value / change;
    };
    for (std::size_t i = 0; i < n_edges; ++i) {
        const Barrier& e = edges_[i];
        keep(e.above, -e.dp);
        keep(e.below, e.dp);
        keep(e.z_above, e.dz_above);
        keep(e.z_below, e.dz_below);
    }
    return t;
}

}  // namespace graphtv

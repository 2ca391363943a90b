#include "terms/entropic_simplex.hpp"

#include <cmath>
#include <vector>

#include "terms/entrywise.hpp"

namespace graphtv {

namespace {

// Where the search for ω(x) starts: within reach of the first step below.
double omega_guess(double x) {
    if (x < -2.0) return std::exp(x);
    if (x >= 4.0) return x - std::log(x);
    const double d = x - 1.0;  // the series about ω(1) = 1
    return 1.0 + d * (0.5 + d * (1.0 / 16 - d * (1.0 / 192)));
}

// Wright's omega function, the root of y + log y = x, by the steps of fourth order of Fritsch,
// Shafer and Crowley (Comm. ACM 16, 1973). `y` is a guess, good or bad. Ends with a step from a
// relative residual w of at most 0.05, and raises `residual` to it: the error left is far below w⁴.
double omega(double x, double y, double& residual) {
    if (x < -40.0) return std::exp(x);  // 1 - exp(x) rounds to 1
    bool trusted = y > 0.0;
    if (!trusted) y = omega_guess(x);
    for (int round = 0; round < 8; ++round) {
        const double r = x - y - std::log(y), q = 1.0 + y;
        const double w = r / q;
        if (trusted && std::abs(w) > 0.25) {
            trusted = false;
            y = omega_guess(x);
            continue;
        }
        const double twice = 2.0 * (q + r * (2.0 / 3.0));
        y *= 1.0 + w * ((twice - w) / (twice - 2.0 * w));
        if (std::abs(w) <= 0.05) {
            residual = std::max(residual, std::abs(w));
            break;
        }
    }
    return y;
}

// The point of the simplex that minimises ε Σ u log u + ⟨ρ, u⟩ + ‖u - v‖²/(2τ).
//
// With a = 1/(τε) and y = a u the optimality conditions read y_c + log y_c = d_c + ν, Σ_c y_c = a,
// with d_c = a (v_c - τρ_c) less its greatest value, which is at k: there d = 0. Take Y = y_k as the
// unknown: ν = Y + log Y, and
//
//     ψ(Y) = Σ_c ω(d_c + Y + log Y) - a,    ψ'(Y) = Σ_c y_c/(1 + y_c) · (1 + Y)/Y,
//
// is increasing and convex, linear where the y_c are small (a soft maximum) and piecewise linear
// where they are large (a projection). Since y_c ≥ Y exp(d_c), the root lies left of
// a / Σ exp(d_c), and Newton's method descends from there to it without ever passing it.
void simplex_prox(std::span<double> d, double a, std::span<double> y) {
    double softmax = 0.0;
    for (const double x : d) softmax += std::exp(x);
    double Y = a / softmax;
    std::fill(y.begin(), y.end(), 0.0);
    double total = 0.0;
    for (int round = 0; round < 100; ++round) {
        const double nu = Y + std::log(Y), rate = (1.0 + Y) / Y;
        double slope = 0.0, residual = 0.0;
        total = 0.0;
        for (std::size_t c = 0; c < d.size(); ++c) {
            y[c] = omega(d[c] + nu, y[c], residual);
            total += y[c];
            slope += y[c] / (1.0 + y[c]);
        }
        const double step = (total - a) / (slope * rate);
        const double size = std::abs(step) / Y;
        Y -= step;
        total = 0.0;
        for (double& value : y) {  // to first order: the guess for the next round, or the end
            value -= value / (1.0 + value) * rate * step;
            total += value;
        }
        if (size <= 1e-9 && residual <= 1e-4) break;
    }
    for (double& value : y) value /= total;
}

}  // namespace

double EntropicSimplexTerm::value(std::span<const double> u, int n_threads) const {
    const double infinite = std::numeric_limits<double>::infinity();
    const std::size_t n = n_vertices();
    const double outside = sum_of(n, n_threads, [&](std::size_t i) {
                               double total = 0.0;
                               bool negative = false;
                               for (std::size_t c = 0; c < n_channels(); ++c) {
                                   const double x = u[c * n + i];
                                   negative = negative || !(x >= 0.0);
                                   total += x;
                               }
                               return negative || std::abs(total - 1.0) > sum_tolerance ? 1.0 : 0.0;
                           }).value();
    if (outside > 0.0) return infinite;
    return sum_of(u.size(), n_threads,
                  [&](std::size_t i) {
                      const double x = u[i];
                      return x > 0.0 ? x * (cost_[i] + epsilon_ * std::log(x)) : 0.0;
                  })
        .value();
}

double EntropicSimplexTerm::conjugate(std::span<const double> s, int n_threads) const {
    const std::size_t n = n_vertices();
    return sum_of(n, n_threads,
                  [&](std::size_t i) {
                      double largest = -std::numeric_limits<double>::infinity(), total = 0.0;
                      for (std::size_t e = i; e < s.size(); e += n)
                          largest = std::max(largest, s[e] - cost_[e]);
                      for (std::size_t e = i; e < s.size(); e += n)
                          total += std::exp((s[e] - cost_[e] - largest) / epsilon_);
                      return largest + epsilon_ * std::log(total);
                  })
        .value();
}

void EntropicSimplexTerm::prox(std::span<const double> v, std::span<const double> steps,
                               std::span<double> out, int n_threads) const {
    const Entries step(steps);
    const std::size_t n = n_vertices(), n_classes = n_channels();
    constexpr std::size_t vertices_per_look = 256;  // some microseconds each
    for_shards(n, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> d(n_classes), y(n_classes);
        for (std::size_t i = begin; i < end; ++i) {
            if (i % vertices_per_look == 0) Watched::look();
            const double tau = step[i];
            const double a = std::min(1.0 / (tau * epsilon_), 1e300);
            std::size_t best = i;
            for (std::size_t e = i; e < v.size(); e += n)
                if (v[e] - tau * cost_[e] > v[best] - tau * cost_[best]) best = e;
            for (std::size_t c = 0, e = i; c < n_classes; ++c, e += n) {
                const double behind = (v[e] - v[best]) - tau * (cost_[e] - cost_[best]);
                d[c] = std::min(behind * a, 0.0);
            }
            simplex_prox(d, a, y);
            for (std::size_t c = 0; c < n_classes; ++c) out[c * n + i] = y[c];
        }
    });
}

}  // namespace graphtv

#include "terms/simplex_prox.hpp"

#include <algorithm>
#include <cmath>

#include "terms/elementary.hpp"

namespace graphtv {

namespace {

// The start of the search for ω(x), close enough for the first step below.
double omega_guess(double x) {
    if (x < -2.0) return elementary::exp(x);
    if (x >= 4.0) return x - elementary::log(x);
    const double d = x - 1.0;  // the series about ω(1) = 1
    return 1.0 + d * (0.5 + d * (1.0 / 16 - d * (1.0 / 192)));
}

// Wright's omega function, the root of y + log y = x, by the steps of fourth order of Fritsch,
// Shafer and Crowley (Comm. ACM 16, 1973). `y` is any guess. The last step starts from a relative
// residual w of at most 0.05, and `residual` is raised to w: the remaining error is far below w⁴.
double omega(double x, double y, double& residual) {
    if (x < -40.0) return elementary::exp(x);  // 1 - exp(x) rounds to 1
    bool trusted = y > 0.0;
    if (!trusted) y = omega_guess(x);
    for (int round = 0; round < 8; ++round) {
        const double r = x - y - elementary::log(y), q = 1.0 + y;
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

}  // namespace

// d is 0 at some class k. Take Y = y_k as the unknown: ν = Y + log Y, and
//
//     ψ(Y) = Σ_c ω(d_c + Y + log Y) - a,    ψ'(Y) = Σ_c y_c/(1 + y_c) · (1 + Y)/Y,
//
// is increasing and convex. It is linear where the y_c are small (a soft maximum) and piecewise
// linear where they are large (a projection). Since y_c ≥ Y exp(d_c), the root is at most a / Σ
// exp(d_c), and Newton's method decreases monotonically from there to the root.
void simplex_prox(std::span<const double> d, double a, std::span<double> y) {
    double softmax = 0.0;
    for (const double x : d) softmax += elementary::exp(x);
    double Y = a / softmax;
    std::fill(y.begin(), y.end(), 0.0);
    double total = 0.0;
    for (int round = 0; round < 100; ++round) {
        const double nu = Y + elementary::log(Y), rate = (1.0 + Y) / Y;
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
        for (double& value : y) {  // to first order: the guess for the next round, or the result
            value -= value / (1.0 + value) * rate * step;
            total += value;
        }
        if (size <= 1e-9 && residual <= 1e-4) break;
    }
    for (double& value : y) value /= total;
}

namespace {

constexpr std::size_t width = SimplexGroup::width;

// Enough for errors below 1e-13, and the number of rounds for guesses that are far off.
constexpr double sufficient = 6e-4;
constexpr int most_rounds = 5;

// lag = d - y - log y, whose target is -ν, and 1/(1 + y).
void linearise(const double* __restrict y, const double* __restrict d, double* __restrict lag,
               double* __restrict inverse, double* __restrict total, double* __restrict slope,
               double* __restrict pull) {
    for (std::size_t k = 0; k < width; ++k) {
        lag[k] = d[k] - y[k] - quick_log(y[k]);
        inverse[k] = 1.0 / (1.0 + y[k]);
        const double rate = y[k] * inverse[k];
        total[k] += y[k];
        slope[k] += rate;
        pull[k] += rate * lag[k];
    }
}

// Replaces the lag by the relative changes w of y that ν requires; large changes are limited.
void restrain(const double* __restrict nu, const double* __restrict inverse, double* __restrict lag,
              double* __restrict worst) {
    for (std::size_t k = 0; k < width; ++k) {
        const double w = (lag[k] + nu[k]) * inverse[k];
        worst[k] = std::max(worst[k], std::abs(w));
        lag[k] = std::min(std::max(w, -0.5), 1.0);
    }
}

// Updates y for this ν. Replaces 1/(1 + y) by y/(1 + y) for the new y, to third order.
void correct(const double* __restrict changes, double* __restrict inverse, double* __restrict y,
             double* __restrict total, double* __restrict slope) {
    for (std::size_t k = 0; k < width; ++k) {
        const double w = changes[k], twice = (2.0 + w * (4.0 / 3.0)) * (1.0 + y[k]);
        const double change = y[k] * w * ((twice - w) / (twice - 2.0 * w));
        const double x = change * inverse[k];
        y[k] += change;
        inverse[k] *= y[k] * (1.0 - x * (1.0 - x));
        total[k] += y[k];
        slope[k] += inverse[k];
    }
}

}  // namespace

// One round. Returns the largest w before it.
double SimplexGroup::improve() {
    Row total{}, slope{}, pull{}, nu, worst{};
    for (std::size_t c = 0; c < y.size(); ++c)
        linearise(y[c].data(), d[c].data(), lag_[c].data(), inverse_[c].data(), total.data(),
                  slope.data(), pull.data());
    for (std::size_t k = 0; k < width; ++k) nu[k] = (a[k] - total[k] - pull[k]) / slope[k];
    total = slope = {};
    for (std::size_t c = 0; c < y.size(); ++c) {
        restrain(nu.data(), inverse_[c].data(), lag_[c].data(), worst.data());
        correct(lag_[c].data(), inverse_[c].data(), y[c].data(), total.data(), slope.data());
    }
    for (std::size_t k = 0; k < width; ++k) nu[k] = std::max((a[k] - total[k]) / slope[k], -0.5);
    for (std::size_t c = 0; c < y.size(); ++c)
        for (std::size_t k = 0; k < width; ++k) y[c][k] += inverse_[c][k] * nu[k];
    return *std::max_element(worst.begin(), worst.end());
}

// False if there was an overflow.
bool SimplexGroup::normalise() {
    Row total{};
    for (const Row& row : y)
        for (std::size_t k = 0; k < width; ++k) total[k] += row[k];
    for (Row& row : y)
        for (std::size_t k = 0; k < width; ++k) row[k] /= total[k];
    return std::all_of(total.begin(), total.end(), [](double x) { return std::isfinite(x); });
}

bool SimplexGroup::solve() {
    constexpr double smallest = 1e-290;  // its logarithm stays finite for a few rounds
    double least = 1.0;
    for (Row& row : y)
        for (std::size_t k = 0; k < width; ++k) {
            row[k] *= a[k];
            least = std::min(least, row[k]);
        }
    if (!(least > smallest)) return false;
    for (int round = 0; round < most_rounds; ++round)
        if (improve() <= sufficient) return normalise();
    return false;
}

}  // namespace graphtv

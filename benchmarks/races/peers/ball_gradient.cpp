// Fast gradient projection with restart (Beck and Teboulle 2009, O'Donoghue and Candès 2015) in single
// precision for isotropic and coupled total variation with the squared loss:
// with flows ‖x_g‖ ≤ ω_g and u = f - ∇ᵀy, x⁺ = P(y + s ∇u), y = x⁺ + ((t - 1) / t⁺) (x⁺ - x), where P
// projects onto balls. The momentum restarts when ⟨y - x⁺, x⁺ - x⟩ > 0. All iterations of a grid are one
// vectorised pass with a few rows in the cache. No package offers this.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace {

constexpr int most_axes = 3;

// One row of pixels. `rows` has the flows and their extrapolation by axis and channel.
template <int n_axes, int n_channels>
struct Row {
    float *x[n_axes][n_channels], *y[n_axes][n_channels];
    const float *from[n_channels], *to[n_axes][n_channels];
};

// Moves the flows of a row, and returns ⟨y - x⁺, x⁺ - x⟩. Balls are over the axes, the channels or both.
template <int n_axes, int n_channels, bool over_axes, bool over_channels>
inline float move(const Row<n_axes, n_channels> &given, std::size_t size, float step, float weight,
                  float beta) {
    const Row<n_axes, n_channels> r = given;
    const float squared = weight * weight;
    float uphill = 0.0f;
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        float moved[n_axes][n_channels], squares[n_axes][n_channels] = {};
        for (int a = 0; a < n_axes; ++a)
            for (int c = 0; c < n_channels; ++c) {
                const float here = r.y[a][c][i] + step * (r.from[c][i] - r.to[a][c][i]);
                moved[a][c] = here;
                squares[over_axes ? 0 : a][over_channels ? 0 : c] += here * here;
            }
        for (int a = 0; a < (over_axes ? 1 : n_axes); ++a)
            for (int c = 0; c < (over_channels ? 1 : n_channels); ++c)
                squares[a][c] = weight / std::sqrt(std::max(squares[a][c], squared));
        for (int a = 0; a < n_axes; ++a)
            for (int c = 0; c < n_channels; ++c) {
                const float next = moved[a][c] * squares[over_axes ? 0 : a][over_channels ? 0 : c];
                const float change = next - r.x[a][c][i];
                uphill += (r.y[a][c][i] - next) * change;
                r.y[a][c][i] = next + beta * change;
                r.x[a][c][i] = next;
            }
    }
    return uphill;
}

// A grid of nz × ny × nx pixels. Flows are stored by axis and channel after `margin` zeros, which stand
// for the flows into the first pixels; flows out of the last pixels stay 0.
template <int n_axes, int n_channels, bool over_axes, bool over_channels>
struct Grid {
    const float *f;
    float *u, *x, *y;
    std::ptrdiff_t nz, ny, nx;
    float weight;

    std::ptrdiff_t row() const { return nx; }
    std::ptrdiff_t slab() const { return nx * ny; }
    std::ptrdiff_t size() const { return nx * ny * nz; }
    std::ptrdiff_t margin() const { return slab() + 1; }
    std::ptrdiff_t stride(int a) const { return a == 0 ? 1 : a == 1 ? row() : slab(); }
    float *flow(float *all, int a, int c) const {
        return all + (a * n_channels + c) * (size() + margin()) + margin();
    }

    void primal(float *flows, std::ptrdiff_t v) const {
        for (int c = 0; c < n_channels; ++c) {
            const float *__restrict g = f + c * size() + v;
            float *__restrict out = u + c * size() + v;
            const float *x0 = flow(flows, 0, c) + v, *x1 = flow(flows, 1, c) + v;
            if constexpr (n_axes == 2) {
                for (std::ptrdiff_t i = 0; i < nx; ++i)
                    out[i] = g[i] - x0[i] + x0[i - 1] - x1[i] + x1[i - nx];
            } else {
                const float *x2 = flow(flows, 2, c) + v;
                for (std::ptrdiff_t i = 0; i < nx; ++i)
                    out[i] = g[i] - x0[i] + x0[i - 1] - x1[i] + x1[i - nx] - x2[i] + x2[i - slab()];
            }
        }
    }

    // Moves `size` flows from place v along the axes of a set.
    template <int n, class Axes>
    float advance(const Axes &axes, std::ptrdiff_t v, std::ptrdiff_t size, float beta) const {
        Row<n, n_channels> r;
        for (int c = 0; c < n_channels; ++c) {
            r.from[c] = u + c * this->size() + v;
            for (int a = 0; a < n; ++a) {
                r.x[a][c] = flow(x, axes[a], c) + v;
                r.y[a][c] = flow(y, axes[a], c) + v;
                r.to[a][c] = r.from[c] + stride(axes[a]);
            }
        }
        return move<n, n_channels, over_axes, over_channels>(
            r, static_cast<std::size_t>(size), 1.0f / (4.0f * n_axes), weight, beta);
    }

    float advance(int n, const int *axes, std::ptrdiff_t v, std::ptrdiff_t size, float beta) const {
        if (n == 1) return advance<1>(axes, v, size, beta);
        if (n == 2) return advance<2>(axes, v, size, beta);
        if constexpr (n_axes == 3)
            if (n == 3) return advance<3>(axes, v, size, beta);
        return 0.0f;
    }

    // The flows of the row that begins at place v.
    double advance_row(std::ptrdiff_t k, std::ptrdiff_t j, float beta) const {
        const std::ptrdiff_t v = k * slab() + j * row();
        int axes[most_axes] = {0, 0, 0}, n = 1;
        if (j + 1 < ny) axes[n++] = 1;
        if (n_axes == 3 && k + 1 < nz) axes[n++] = 2;
        const double inner = static_cast<double>(advance(n, axes, v, nx - 1, beta));
        return inner + static_cast<double>(advance(n - 1, axes + 1, v + nx - 1, 1, beta));
    }

    void run(int iterations, double &t) const {
        for (int iteration = 0; iteration < iterations; ++iteration) {
            const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
            const float beta = static_cast<float>((t - 1.0) / next);
            t = next;
            double uphill = 0.0;
            for (std::ptrdiff_t k = 0; k <= nz; ++k)
                for (std::ptrdiff_t j = 0; j < ny; ++j) {
                    if (k < nz) primal(y, k * slab() + j * row());
                    // The row before, or in a volume that of the slab before, has all its u.
                    if (n_axes == 3) {
                        if (k > 0) uphill += advance_row(k - 1, j, beta);
                    } else if (k == 0) {
                        if (j > 0) uphill += advance_row(0, j - 1, beta);
                        if (j + 1 == ny) uphill += advance_row(0, j, beta);
                    }
                }
            if (uphill > 0.0) {
                t = 1.0;
                std::copy_n(x, n_axes * n_channels * (size() + margin()), y);
            }
        }
        for (std::ptrdiff_t v = 0; v < size(); v += row()) primal(x, v);
    }
};

template <int n_axes, int n_channels>
void run_grid(const float *f, float *u, float *x, float *y, double *t, int nz, int ny, int nx,
              bool over_axes, bool over_channels, float weight, int iterations) {
    const auto go = [&](auto grid) { grid.run(iterations, *t); };
    if (over_axes && over_channels)
        go(Grid<n_axes, n_channels, true, true>{f, u, x, y, nz, ny, nx, weight});
    else if (over_axes)
        go(Grid<n_axes, n_channels, true, false>{f, u, x, y, nz, ny, nx, weight});
    else
        go(Grid<n_axes, n_channels, false, true>{f, u, x, y, nz, ny, nx, weight});
}

template <int known>
void run_graph(const float *f, float *u, float *x, float *y, double *t, std::int64_t n, std::int64_t m,
               int n_channels, const std::int32_t *edges, const float *weights, const float *steps,
               int iterations) {
    const int size = known > 0 ? known : n_channels;
    const auto primal = [&](const float *flow) {
        std::copy_n(f, n * size, u);
        for (std::int64_t e = 0; e < m; ++e)
            for (int c = 0; c < size; ++c) {
                u[edges[2 * e] * std::int64_t{size} + c] -= flow[e * size + c];
                u[edges[2 * e + 1] * std::int64_t{size} + c] += flow[e * size + c];
            }
    };
    for (int iteration = 0; iteration < iterations; ++iteration) {
        primal(y);
        const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * *t * *t));
        const float beta = static_cast<float>((*t - 1.0) / next);
        *t = next;
        double uphill = 0.0;
        for (std::int64_t e = 0; e < m; ++e) {
            const float *from = u + edges[2 * e] * std::int64_t{size};
            const float *to = u + edges[2 * e + 1] * std::int64_t{size};
            float squares = 0.0f, here = 0.0f;
            float *xe = x + e * size, *ye = y + e * size;
            for (int c = 0; c < size; ++c) {
                const float moved = ye[c] + steps[e] * (from[c] - to[c]);
                squares += moved * moved;
            }
            const float scale = weights[e] / std::sqrt(std::max(squares, weights[e] * weights[e]));
            for (int c = 0; c < size; ++c) {
                const float moved = scale * (ye[c] + steps[e] * (from[c] - to[c]));
                const float change = moved - xe[c];
                here += (ye[c] - moved) * change;
                ye[c] = moved + beta * change;
                xe[c] = moved;
            }
            uphill += static_cast<double>(here);
        }
        if (uphill > 0.0) {
            *t = 1.0;
            std::copy_n(x, m * size, y);
        }
    }
    primal(x);
}

}  // namespace

extern "C" {

// Continues from x, y and t, for 1 or 3 channels, one after another. u is that of x.
int ball_grid(const float *f, float *u, float *x, float *y, double *t, int nz, int ny, int nx,
              int n_channels, int over_axes, int over_channels, float weight, int iterations) {
    const auto run = [&](auto function) {
        function(f, u, x, y, t, nz, ny, nx, over_axes != 0, over_channels != 0, weight, iterations);
    };
    if (n_channels == 1) nz > 1 ? run(run_grid<3, 1>) : run(run_grid<2, 1>);
    else if (n_channels == 3) nz > 1 ? run(run_grid<3, 3>) : run(run_grid<2, 3>);
    else return 1;
    return 0;
}

// The same on a graph with coupled channels, those of a vertex or an edge side by side. 1/s_e is the sum
// of the degrees of both ends.
void ball_graph(const float *f, float *u, float *x, float *y, double *t, std::int64_t n, std::int64_t m,
                int n_channels, const std::int32_t *edges, const float *weights, const float *steps,
                int iterations) {
    const auto run = [&](auto function) {
        function(f, u, x, y, t, n, m, n_channels, edges, weights, steps, iterations);
    };
    if (n_channels == 3) run(run_graph<3>);
    else if (n_channels == 10) run(run_graph<10>);
    else run(run_graph<0>);
}

}  // extern "C"

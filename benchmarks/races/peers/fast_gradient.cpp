// Fast gradient projection (Beck and Teboulle 2009) in single precision for
//     min_u ½‖u - f‖² + Σ_e ω_e |u_i - u_j|:
// with flows |x_e| ≤ ω_e and u = f - ∇ᵀy, x⁺ = clip(y + s ∇u), y = x⁺ + ((t - 1) / t⁺) (x⁺ - x).
// A gradient is clipped edge by edge, so that the step s may differ between edges as long as
// ∇∇ᵀ ≼ diag(1/s): 1/s_e = deg(i) + deg(j), which on grids is at most 4 per axis.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

// The momentum of the next step from that of this one.
struct Momentum {
    double t = 1.0;
    float advance() {
        const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
        const double beta = (t - 1.0) / next;
        t = next;
        return static_cast<float>(beta);
    }
};

}  // namespace

extern "C" {

// A row-major grid of nz × ny × nx (nz = 1 for images). The passes are those of
// CCPi-Regularisation's FGP_TV: the primal, the gradient step, the projection and the
// extrapolation. Each pass runs over the whole array, on all threads of OpenMP.
void fgp_plain(const float *f, float *u, int nz, int ny, int nx, float weight, int iterations) {
    const std::size_t n = static_cast<std::size_t>(nz) * ny * nx;
    const std::size_t row = nx, slab = static_cast<std::size_t>(nx) * ny;
    const int axes = nz > 1 ? 3 : 2;
    const float step = 1.0f / (4.0f * static_cast<float>(axes));
    std::vector<float> x[3], y[3], old[3];
    for (int a = 0; a < axes; ++a) {
        x[a].assign(n, 0.0f);
        y[a].assign(n, 0.0f);
        old[a].assign(n, 0.0f);
    }
    Momentum momentum;
    const auto primal = [&](const std::vector<float> *flow) {
#pragma omp parallel for collapse(2)
        for (int k = 0; k < nz; ++k) {
            for (int j = 0; j < ny; ++j) {
                for (int i = 0; i < nx; ++i) {
                    const std::size_t v = k * slab + j * row + i;
                    const float left = i > 0 ? flow[0][v - 1] : 0.0f;
                    const float up = j > 0 ? flow[1][v - row] : 0.0f;
                    float value = f[v] - flow[0][v] + left - flow[1][v] + up;
                    if (axes == 3) {
                        value += (k > 0 ? flow[2][v - slab] : 0.0f) - flow[2][v];
                    }
                    u[v] = value;
                }
            }
        }
    };
    for (int iteration = 0; iteration < iterations; ++iteration) {
        primal(y);
#pragma omp parallel for collapse(2)
        for (int k = 0; k < nz; ++k) {
            for (int j = 0; j < ny; ++j) {
                for (int i = 0; i < nx; ++i) {
                    const std::size_t v = k * slab + j * row + i;
                    x[0][v] = i + 1 < nx ? y[0][v] + step * (u[v] - u[v + 1]) : 0.0f;
                    x[1][v] = j + 1 < ny ? y[1][v] + step * (u[v] - u[v + row]) : 0.0f;
                    if (axes == 3) {
                        x[2][v] = k + 1 < nz ? y[2][v] + step * (u[v] - u[v + slab]) : 0.0f;
                    }
                }
            }
        }
        for (int a = 0; a < axes; ++a) {
#pragma omp parallel for
            for (std::size_t v = 0; v < n; ++v) {
                const float size = std::fabs(x[a][v]) / weight;
                x[a][v] /= size < 1.0f ? 1.0f : size;
            }
        }
        const float beta = momentum.advance();
        for (int a = 0; a < axes; ++a) {
#pragma omp parallel for
            for (std::size_t v = 0; v < n; ++v) {
                y[a][v] = x[a][v] + beta * (x[a][v] - old[a][v]);
                old[a][v] = x[a][v];
            }
        }
    }
    primal(x);
}

// The same iterates for the same grid in one pass, with a few rows in the cache at a time. There
// are no branches, so the compiler uses vector instructions. No package offers this.
void fgp_fused(const float *f, float *u, int nz, int ny, int nx, float weight, int iterations) {
    const std::size_t n = static_cast<std::size_t>(nz) * ny * nx;
    const std::size_t row = nx, slab = static_cast<std::size_t>(nx) * ny;
    const int axes = nz > 1 ? 3 : 2;
    const float step = 1.0f / (4.0f * static_cast<float>(axes));
    // A slab of zeros before the grid stands for the flows into its first vertices.
    std::vector<float> xs[3], ys[3];
    for (int a = 0; a < axes; ++a) {
        xs[a].assign(n + slab + 1, 0.0f);
        ys[a].assign(n + slab + 1, 0.0f);
    }
    float *const x0 = xs[0].data() + slab + 1, *const y0 = ys[0].data() + slab + 1;
    float *const x1 = xs[1].data() + slab + 1, *const y1 = ys[1].data() + slab + 1;
    float *const x2 = axes == 3 ? xs[2].data() + slab + 1 : nullptr;
    float *const y2 = axes == 3 ? ys[2].data() + slab + 1 : nullptr;

    // Flows out of the last vertices of an axis are never written and stay 0. So the next vertex in
    // memory, the first of the next row, receives no flow along the axis.
    const auto primal_row = [&](const float *a0, const float *a1, const float *a2, std::size_t v) {
        const float *__restrict g = f + v;
        float *__restrict out = u + v;
        a0 += v, a1 += v;
        for (std::size_t i = 0; i < row; ++i) {
            out[i] = g[i] - a0[i] + a0[static_cast<std::ptrdiff_t>(i) - 1] - a1[i] +
                     a1[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(row)];
        }
        if (a2 != nullptr) {
            a2 += v;
            for (std::size_t i = 0; i < row; ++i) {
                out[i] += a2[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(slab)] - a2[i];
            }
        }
    };
    const auto update = [&](float *__restrict x, float *__restrict y, const float *from, const float *to,
                            std::size_t count, float beta) {
        for (std::size_t i = 0; i < count; ++i) {
            const float moved = y[i] + step * (from[i] - to[i]);
            const float clipped = std::min(std::max(moved, -weight), weight);
            y[i] = clipped + beta * (clipped - x[i]);
            x[i] = clipped;
        }
    };
    Momentum momentum;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        const float beta = momentum.advance();
        for (int k = 0; k <= nz; ++k) {
            // The primal of slab k, then the flows of slab k - 1, whose vertices all have theirs;
            // in an image, rows take the part of slabs.
            for (int j = 0; j < ny; ++j) {
                const std::size_t v = k * slab + j * row;
                if (k < nz) {
                    primal_row(y0, y1, y2, v);
                    if (axes == 2) {
                        if (j > 0) {
                            const std::size_t w = v - row;
                            update(x0 + w, y0 + w, u + w, u + w + 1, row - 1, beta);
                            update(x1 + w, y1 + w, u + w, u + w + row, row, beta);
                        }
                        if (j + 1 == ny) {
                            update(x0 + v, y0 + v, u + v, u + v + 1, row - 1, beta);
                        }
                    }
                }
                if (axes == 3 && k > 0) {
                    const std::size_t w = v - slab;
                    update(x0 + w, y0 + w, u + w, u + w + 1, row - 1, beta);
                    if (j + 1 < ny) {
                        update(x1 + w, y1 + w, u + w, u + w + row, row, beta);
                    }
                    if (k < nz) {
                        update(x2 + w, y2 + w, u + w, u + w + slab, row, beta);
                    }
                }
            }
        }
    }
    for (std::size_t v = 0; v < n; v += row) {
        primal_row(x0, x1, x2, v);
    }
}

// A general graph: edges (tail, head) with weights.
void fgp_graph(const float *f, float *u, std::int64_t n, std::int64_t m, const std::int32_t *edges,
               const float *weights, int iterations) {
    std::vector<float> x(m, 0.0f), y(m, 0.0f), step(m);
    std::vector<std::int32_t> degree(n, 0);
    for (std::int64_t e = 0; e < 2 * m; ++e) {
        ++degree[edges[e]];
    }
    for (std::int64_t e = 0; e < m; ++e) {
        step[e] = 1.0f / static_cast<float>(degree[edges[2 * e]] + degree[edges[2 * e + 1]]);
    }
    const auto primal = [&](const std::vector<float> &flow) {
        std::copy(f, f + n, u);
        for (std::int64_t e = 0; e < m; ++e) {
            u[edges[2 * e]] -= flow[e];
            u[edges[2 * e + 1]] += flow[e];
        }
    };
    Momentum momentum;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        primal(y);
        const float beta = momentum.advance();
        for (std::int64_t e = 0; e < m; ++e) {
            const float moved = y[e] + step[e] * (u[edges[2 * e]] - u[edges[2 * e + 1]]);
            const float clipped = std::min(std::max(moved, -weights[e]), weights[e]);
            y[e] = clipped + beta * (clipped - x[e]);
            x[e] = clipped;
        }
    }
    primal(x);
}

}  // extern "C"

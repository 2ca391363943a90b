"""Points of varying density, with targets that a smoother over near neighbours can learn."""

import numpy as np


def gaussian(rng, n):
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] > 0


def clusters(rng, n):
    """Eight clusters whose widths differ by two orders of magnitude."""
    label = rng.integers(8, size=n)
    centres, widths = 10 * rng.uniform(-1, 1, (8, 2)), 10.0 ** rng.uniform(-2, 0, 8)
    return centres[label] + widths[label, None] * rng.normal(size=(n, 2)), label % 4


def heavy_tails(rng, n):
    X = rng.standard_t(1.5, size=(n, 2))
    return X, X[:, 0] > 0


def cauchy(rng, n):
    X = rng.standard_cauchy(size=(n, 2))
    return X, X[:, 0] > 0


def log_normal(rng, n):
    X = rng.lognormal(0, 2, size=(n, 2))
    return X, X[:, 0] > 1


def lattice(rng, n):
    """Few distinct points, each many times."""
    X = rng.integers(0, 12, size=(n, 2)).astype(float)
    return X, X[:, 0] > 5


def resampled(rng, n):
    """A bootstrap sample: some points coincide, others are alone."""
    X = rng.normal(size=(n // 4, 2))[rng.integers(n // 4, size=n)]
    return X, X[:, 0] > 0


def ten_dimensions(rng, n):
    label = rng.integers(2, size=n)
    X = rng.normal(size=(n, 10))
    X[:, 0] += 6 * label
    return X, label


def uneven_axes(rng, n):
    """A feature with large values and no information."""
    X = rng.normal(size=(n, 2)) * [1.0, 1000.0]
    return X, X[:, 0] > 0


def rings(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    outside = rng.integers(2, size=n)
    radius = 1 + 2 * outside[:, None]
    X = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X + 0.05 * rng.normal(size=(n, 2)), outside


def exponential_line(rng, n):
    X = rng.exponential(size=(n, 1))
    return X, np.minimum(X[:, 0], 2.9).astype(int)


def dense_in_sparse(rng, n):
    X = rng.normal(size=(n, 3)) * np.where(np.arange(n) % 2, 0.01, 10.0)[:, None]
    return X, X[:, 0] > 0


def outliers(rng, n):
    X = rng.normal(size=(n, 2))
    X[:20] = 100 + 50 * X[:20]
    return X, X[:, 0] > 0


DENSITIES = (
    gaussian,
    clusters,
    heavy_tails,
    cauchy,
    log_normal,
    lattice,
    resampled,
    ten_dimensions,
    uneven_axes,
    rings,
    exponential_line,
    dense_in_sparse,
    outliers,
)


def sample(density, n, seed, noise=0.2):
    """Return points and noisy targets."""
    rng = np.random.default_rng(seed)
    X, target = density(rng, n)
    return X, target + noise * rng.normal(size=n)

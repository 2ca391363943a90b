"""Images to denoise, and measures of the result."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphtv import denoise_tv, gallery

# Integers keep the properties below free of rounding in the data.
small_images = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    elements=st.integers(-8, 8),
)
few = settings(max_examples=40)
small_weights = st.sampled_from([0.25, 0.5, 1.0, 3.0])


def close(actual, desired):
    np.testing.assert_allclose(actual, desired, rtol=0, atol=1e-9)


def exact(image, weight=0.1, **options):
    return denoise_tv(image, weight, tol=0, **options)


def noisy_image(shape, noise=0.1, seed=0):
    return gallery.piecewise_constant_image(shape, rng=seed, noise=noise)[0]


def psnr(image, truth):
    return -10 * np.log10(np.mean((image - truth) ** 2))

"""Numbers of all sizes for data terms, and their proximal map as a function."""

import numpy as np
from hypothesis import strategies as st

magnitudes = st.floats(-6, 6).map(lambda x: 10.0**x)
signed = st.builds(lambda size, sign: sign * size, magnitudes, st.sampled_from([-1.0, 1.0]))
numbers = st.one_of(st.just(0.0), st.floats(-10, 10).map(lambda x: round(x, 3)), signed)


def prox(core, v, steps, n_threads=1):
    """Return the proximal map of a term of the core at the flat array v."""
    out = np.empty_like(v)
    core.prox(v, steps, out, n_threads)
    return out

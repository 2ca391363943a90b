"""Total variation on graphs as a function of other libraries for proximal algorithms.

The modules `pyproximal`, `deepinv` and `scico` need the libraries of these names. Each has a class
`GraphTV`, which is the function σ Σ_e ω_e |x_i - x_j| with an exact proximal map.
"""

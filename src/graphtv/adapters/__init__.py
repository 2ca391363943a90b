"""Total variation on graphs as a function of other libraries for proximal algorithms.

Each module needs the library after which it is named: `pyproximal`, `deepinv` and `scico`. Each has
a class `GraphTV`: σ Σ_e ω_e |x_i - x_j| with an exact proximal map.
"""

"""Linear models whose coefficients are piecewise constant on a graph."""

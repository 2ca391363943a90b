"""The primal and the dual objective, and what a pair of points proves about them."""

"""
Optimisation: check a certificate yourself
==========================================

The task: solve a problem with a million unknowns to a proved accuracy, and verify the proof with
NumPy alone. Then see what the preconditioner does. You need the extra ``plot``.
"""

# %%
# The problem
# -----------
# Denoising an image of 1000 × 1000 pixels: min ½‖u - f‖² + ‖Ku‖₁ with the weighted gradient K.

import matplotlib.pyplot as plt
import numpy as np

from graphtv import Problem, SquaredLoss, condition_number, gallery, grid_graph, solve
from graphtv.plot import draw_convergence

f, _ = gallery.piecewise_constant_image((1000, 1000), rng=1, noise=0.2)
problem = Problem(grid_graph(f.shape, 0.3), SquaredLoss(f))
result = solve(problem, tol=1e-4)
print(result)

# %%
# The proof
# ---------
# Any p with entries between -1 and 1 bounds the minimum from below, because ‖Ku‖₁ ≥ ⟨Ku, p⟩ for
# every u. ½‖u - f‖² + ⟨Ku, p⟩ has its minimum at u = f - Kᵀp, with the value ⟨f, Kᵀp⟩ - ½‖Kᵀp‖².

K = problem.graph.gradient()
u, p = result.u.ravel(), result.p
assert np.abs(p).max() <= 1
primal = 0.5 * np.sum((u - f.ravel()) ** 2) + np.abs(K @ u).sum()
q = K.T @ p
dual = f.ravel() @ q - 0.5 * q @ q
print("primal", primal, " dual", dual)
print("relative gap", f"{(primal - dual) / primal:.1e}", " asked for 1e-4")

# %%
# The squared loss is strongly convex, so the gap also bounds the distance of u from the minimiser.

print("‖u - u*‖ ≤", round(float(np.sqrt(2 * (primal - dual))), 2), "for", u.size, "pixels")

# %%
# The preconditioner
# ------------------
# The paper's method is PDHG. Its number of iterations scales with the condition number κ, which the
# chains of the grid keep at √2. A smaller image shows this.

small = Problem(grid_graph((96, 96), 1.0), SquaredLoss(f[:96, :96]))
runs = {}
for name in ("none", "diagonal", "chains"):
    kappa = condition_number(small.graph, name)
    runs[f"{name}, κ = {kappa:.1f}"] = solve(small, method="pdhg", preconditioner=name, tol=1e-5)

# %%
# The figure
# ----------

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
draw_convergence(runs, ax)

# %%
# Next: :doc:`/theory/index`, from forests to certificates, and :doc:`/how-to/write-a-data-term`.

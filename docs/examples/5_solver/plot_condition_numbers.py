"""
Condition numbers of growing grids
==================================

Without a preconditioner κ grows with the length of a grid. With chains it is √2 for every image.
"""

import matplotlib.pyplot as plt

from graphtv import condition_number, grid_graph

lengths = (4, 8, 16, 32)
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name in ("none", "diagonal", "nested", "chains"):
    kappas = [condition_number(grid_graph((n, n)), name) for n in lengths]
    ax.loglog(lengths, kappas, marker="o", label=name)
ax.set(xlabel="length of the grid", ylabel="condition number κ")
ax.set_xticks(lengths, [str(n) for n in lengths])
ax.minorticks_off()
ax.legend()

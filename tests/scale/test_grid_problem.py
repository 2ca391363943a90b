"""The arrays of a problem as tasks of Dask."""

import dask.array as da
import numpy as np
from dask.core import get_dependencies

from graphtv.scale.denoising import _floats, _is_known
from graphtv.scale.grid_problem import GridProblem, in_one


def test_a_name_is_one_task() -> None:
    """Dask's scheduler may hang where two graphs have different tasks of the same name."""
    image = da.from_array(np.zeros((80, 80)), chunks=40) + 1.0
    known = da.map_blocks(_is_known, image, dtype=bool)
    f = da.map_blocks(_floats, image, known, dtype=float)
    problem = GridProblem.of(f, known, (1.0, 1.0))
    graphs = [
        dict(problem.blocks(values)[0, 0].__dask_graph__()) for values in (problem.f, problem.c)
    ]
    graphs.append(dict(in_one(known[:50, :50]).__dask_graph__()))
    for one in graphs:
        for other in graphs:
            for key in one.keys() & other.keys():
                assert get_dependencies(one, key) == get_dependencies(other, key)

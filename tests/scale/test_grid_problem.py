"""The arrays of a problem as tasks of Dask."""

from pathlib import Path

import dask.array as da
import pytest
from dask.core import get_dependencies

from graphtv.applications.imaging.tiled_denoising import _floats, _is_known
from graphtv.scale.grid_problem import GridProblem


def test_a_name_is_one_task(tmp_path: Path) -> None:
    """Dask's scheduler may hang where two graphs have different tasks of the same name."""
    pytest.importorskip("zarr")
    da.ones((80, 80), chunks=40).to_zarr(str(tmp_path / "ones.zarr"))
    image = da.from_zarr(str(tmp_path / "ones.zarr"))
    known = da.map_blocks(_is_known, image, dtype=bool)
    f = da.map_blocks(_floats, image, known, dtype=float)
    fine = GridProblem.of(f, known, (1.0, 1.0))
    coarse = fine.coarser()
    assert coarse is not None
    graphs = [
        dict(problem.blocks(values)[0, 0].__dask_graph__())
        for problem in (fine, coarse)
        for values in (problem.f, problem.c)
    ]
    for one in graphs:
        for other in graphs:
            for key in one.keys() & other.keys():
                assert get_dependencies(one, key) == get_dependencies(other, key)

"""An unknown keyword is an error of the called function, which suggests a similar keyword."""

import numpy as np
import pytest

import graphtv
from graphtv import FlowNetwork, Graph

EDGE = Graph(2, [[0, 1]])
IMAGE = np.array([[0.0, 1.0], [0.0, 1.0]])
NETWORK = FlowNetwork(2, [[0, 1]], [1], 0, 1)


@pytest.mark.parametrize(
    ("function", "arguments", "wrong", "right"),
    [
        (graphtv.denoise_tv, (IMAGE,), "weigth", "weight"),
        (graphtv.denoise_tv, (IMAGE, "auto"), "max_iteration", "max_iterations"),
        (graphtv.denoise_tv, (IMAGE,), "checkpoints", None),
        (graphtv.denoise_tv, (IMAGE,), "eps", None),
        (graphtv.fused_lasso, (EDGE, [0.0, 1.0]), "lamda", "lam"),
        (graphtv.fused_lasso, (EDGE, [0.0, 1.0]), "timelimit", "time_limit"),
        (graphtv.fused_lasso_path, (EDGE, [0.0, 1.0]), "lambda_", "lambdas"),
        (graphtv.segment, (EDGE, np.zeros((2, 2))), "epsilom", "epsilon"),
        (graphtv.segment_image, (IMAGE, [[1, 0], [0, 2]]), "sigma_colour", "sigma_color"),
        (graphtv.min_cut, (EDGE, [1, 0], [0, 1]), "tolerance", None),
        (graphtv.min_cut, (EDGE, [1, 0], [0, 1]), "sink_capacity", "sink_capacities"),
        (graphtv.cut_path, (EDGE, [1, 0], [0, 1]), "verbos", "verbose"),
        (NETWORK.min_cut, (), "n_thread", "n_threads"),
        (NETWORK.cut_path, (), "n_thread", "n_threads"),
        (graphtv.solve, (None,), "tolerance", None),
    ],
)
def test_unknown_keyword(function, arguments, wrong, right):
    message = rf"{function.__name__}\(\) got an unexpected keyword argument '{wrong}'"
    hint = "$" if right is None else rf"\. Did you mean '{right}'\?$"
    with pytest.raises(TypeError, match=f"{message}{hint}"):
        function(*arguments, **{wrong: 1})


def test_dask():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"^denoise_tv\(\) got .* Did you mean 'checkpoint'\?"):
        graphtv.denoise_tv(da.from_array(IMAGE), checkpoints="folder")
    with pytest.raises(ValueError, match="denoise_tv does not support method for dask arrays"):
        graphtv.denoise_tv(da.from_array(IMAGE), method="auto")


@pytest.mark.parametrize("name", ["FusedLasso", "TVClassifier"])
def test_estimators(name):
    pytest.importorskip("sklearn")
    estimator = getattr(graphtv, name)(solve_options={"n_thread": 1})
    with pytest.raises(TypeError, match=r"^solve\(\) got .* 'n_thread'\. Did you mean 'n_threads'"):
        estimator.fit(IMAGE, [0, 1])

"""Regression tests for defects that `benchmarks/reliability` found."""

import gzip
import io
import warnings
import zlib

import numpy as np
import pytest

import graphtv
from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    FlowNetwork,
    Graph,
    PoissonLoss,
    Problem,
    SquaredLoss,
    _memory,
    gallery,
    grid_graph,
    solve,
)
from graphtv.io import dimacs


@pytest.mark.parametrize("scale", [1e-150, 1e15, 1e52, 1e150])
def test_simplex_of_huge_costs_is_no_nan(scale):
    """The first point was a proximal step of length 1e300; its product with the cost overflowed."""
    cost = scale * np.array([[0.0, 1.0, 2.0]] * 3)
    problem = Problem(Graph(3, [(0, 1), (1, 2)], scale), EntropicSimplex(cost, scale))
    result = solve(problem)
    assert result.status == "optimal"
    expected = np.exp(-np.arange(3.0)) / np.exp(-np.arange(3.0)).sum()
    np.testing.assert_allclose(result.u, [expected] * 3, rtol=1e-3)


@pytest.mark.parametrize("ratio", [1e-300, 1e300])
def test_simplex_prox_of_any_step_is_a_point_of_the_simplex(ratio):
    term = EntropicSimplex(np.array([[0.0, 1.0, 5.0]]) * 1e200, 1e-100)
    u = term.prox([[0.2, 0.3, 0.5]], ratio)
    assert np.isfinite(u).all()
    assert u.sum() == pytest.approx(1.0)


def test_scales_that_overflow_in_the_iteration_leave_a_point():
    """Weights 1e97 times the signal on a chain with HuberTV: the returned iterate was NaN."""
    problem = Problem(
        gallery.path_graph(10, 1e-36), SquaredLoss(np.arange(10) * 1e-133), graphtv.HuberTV(1e-136)
    )
    result = solve(problem, max_iterations=50)
    assert result.status == "optimal"
    np.testing.assert_array_equal(result.u, 4.5e-133)


def test_an_image_that_is_constant_up_to_rounding():
    """The first step had the size of one bit, the typical difference of values. It stalled."""
    rng = np.random.default_rng(0)
    image = 0.3 + rng.integers(0, 2, (40, 40)) * 2.0**-54
    image[10:14, 10:14] = rng.random((4, 4))
    problem = Problem(grid_graph(image.shape, 0.3), AbsoluteLoss(image.ravel()))
    assert solve(problem).status == "optimal"


@pytest.mark.parametrize(
    ("counts", "weights", "weight", "delta"),
    [
        ([3.0, np.nextafter(3.0, 4.0), 7.0], [1, 1, 1], 10.0, 0.01),
        ([2.0, np.nextafter(2.0, 4.0), 7.0], [1, 0, 1], 100.0, 10.0),
        ([5.0, 2.0, 4.0], [1, 1, 0], 100.0, 0.1),
        ([4.0, 3.0, 2.0], [1, 0, 1], 1.0, 0.1),
    ],
)
def test_poisson_on_a_path_of_three(counts, weights, weight, delta):
    """The weight of the steps diverged while one point moved only by rounding errors."""
    data = PoissonLoss(counts, weights)
    problem = Problem(gallery.path_graph(3, weight), data, graphtv.HuberTV(delta))
    for preconditioner in ("diagonal", "chains"):
        result = solve(problem, method="pdhg", preconditioner=preconditioner)
        assert result.status == "optimal"
        assert result.iterations < 500


@pytest.mark.parametrize("weight", [1e2, 1e3, 1e4, 1e6])
@pytest.mark.parametrize("delta", [0.001, 0.1, 10.0])
def test_large_weights_of_a_curved_penalty(weight, delta):
    """PDHG over edges stalled at a gap of 1."""
    image, _ = gallery.piecewise_constant_image((30, 30), rng=0)
    problem = Problem(
        grid_graph(image.shape, weight), SquaredLoss(image.ravel()), graphtv.HuberTV(delta)
    )
    result = solve(problem, method="pdhg", preconditioner="diagonal")
    assert result.status == "optimal"
    assert result.iterations < 20_000
    chosen = solve(problem)
    assert chosen.status == "optimal"
    assert chosen.iterations < 500 or chosen.preconditioner == "diagonal"


def huber_scales():
    """Yield signals, weights and widths of all sizes with normal objectives."""
    for signal in (1e-133, 1e-60, 1.0, 1e140):
        for ratio in (1e-200, 1e-97, 1e-30, 1.0, 1e30, 1e97, 1e150):
            weight = signal * ratio
            for delta in (weight * weight, weight * signal, 1e-3 * weight * signal):
                if 1e-150 < weight < 1e150 and 1e-250 < delta < 1e280:
                    yield signal, weight, delta


@pytest.mark.parametrize("make", [gallery.path_graph, lambda n, w: gallery.random_tree(n, 1, w)])
@pytest.mark.parametrize(("signal", "weight", "delta"), list(huber_scales()))
def test_huber_on_trees_is_solved_at_every_scale(make, signal, weight, delta):
    """Weights far above or below the signal: u had the rounding error of u, p that of f - u.

    A third of such problems ended as stalled, at the best constants or with a gap of 1.
    """
    f = signal * np.random.default_rng(3).normal(size=12)
    result = solve(Problem(make(12, weight), SquaredLoss(f), graphtv.HuberTV(delta)))
    assert result.status == "optimal"
    assert result.relative_gap <= 1e-6


def test_tiff_with_a_loop_of_pages_does_not_hang():
    """Its second directory is empty and its own successor, which gives an endless loop."""
    pytest.importorskip("tifffile")
    from graphtv.io.errors import FileError
    from graphtv.io.picture import Picture
    from graphtv.io.pictures import encode, picture_of

    data = bytearray(encode(Picture(np.zeros((5, 6), np.uint8), "tiff"), "tiff"))
    first = int.from_bytes(data[4:8], "little")
    link = first + 2 + 12 * int.from_bytes(data[first : first + 2], "little")
    data += bytes(len(data) % 2)
    data[link : link + 4] = len(data).to_bytes(4, "little")
    data += bytes(2) + len(data).to_bytes(4, "little")
    with pytest.raises(FileError, match=r"picture\.tif.*pages contains a loop"):
        picture_of(bytes(data), "picture.tif")


@pytest.mark.parametrize("height", [50_331_653, 1_000_000])
def test_tiff_that_claims_to_be_huge_does_not_hang(height):
    """A height of millions of rows, in strips of one row each, in a file of 300 bytes."""
    pytest.importorskip("tifffile")
    from graphtv.io.errors import FileError
    from graphtv.io.picture import Picture
    from graphtv.io.pictures import encode, picture_of

    data = bytearray(encode(Picture(np.zeros((5, 6), np.uint8), "tiff"), "tiff"))
    first = int.from_bytes(data[4:8], "little")
    for at in range(first + 2, first + 2 + 12 * data[first], 12):
        if data[at : at + 2] == (257).to_bytes(2, "little"):  # its length
            data[at + 2 : at + 12] = b"\4\0\1\0\0\0" + height.to_bytes(4, "little")
        if data[at : at + 2] == (278).to_bytes(2, "little"):  # rows per strip
            data[at + 8 : at + 12] = (1).to_bytes(4, "little")
    with pytest.raises(FileError, match=rf"picture\.tif.*{height}"):
        picture_of(bytes(data), "picture.tif")


def test_scribbles_of_an_empty_array_are_refused(tmp_path):
    """An empty array has no minimum, but the code computed it."""
    from graphtv.cli.files import read_scribbles
    from graphtv.io.errors import FileError

    np.save(tmp_path / "empty.npy", np.zeros((0, 3), dtype=np.uint8))
    with pytest.raises(FileError, match=r"empty\.npy must have scribbles of at least 2 classes"):
        read_scribbles(str(tmp_path / "empty.npy"), None)


def test_small_files_that_claim_huge_images_are_refused_before_memory_is_taken():
    """A black and white TIFF of 200 bytes claims 350 million rows, and each needs a pointer."""
    image = pytest.importorskip("PIL.Image")
    from graphtv.io.errors import FileError
    from graphtv.io.pictures import picture_of

    for kind in ("TIFF", "PNG"):
        buffer = io.BytesIO()
        image.new("1", (1, 5)).save(buffer, kind)
        data = buffer.getvalue()
        if kind == "TIFF":
            tag = b"\x01\x01\x04\x00\x01\x00\x00\x00"  # its length
            assert tag in data
            data = data.replace(tag + b"\x05\0\0\0", tag + (352_321_541).to_bytes(4, "little"))
        else:
            head = b"IHDR" + (1).to_bytes(4, "big") + (352_321_541).to_bytes(4, "big") + data[24:29]
            data = data[:12] + head + zlib.crc32(head).to_bytes(4, "big") + data[33:]
        with pytest.raises(FileError, match="352321541"):
            picture_of(data, "input")


def test_dimacs_capacities_with_a_sign_are_integers():
    """The fast path read +3 as a real number, and so all others: digits were lost."""
    text = "p max 2 2\nn 1 s\nn 2 t\na 1 2 +3\na 1 2 9007199254740993\n"
    network = graphtv.read_dimacs(io.StringIO(text))
    assert network.capacities.dtype == np.int64
    assert network.capacities.tolist() == [3, 9007199254740993]
    assert network.min_cut().value == 9007199254740996


@pytest.mark.parametrize("is_fast", [True, False])
def test_dimacs_integers_beyond_int64_are_refused_among_real_numbers(is_fast, monkeypatch):
    """The fast path read them as real numbers if another capacity of the block was real."""
    if not is_fast:
        monkeypatch.setattr(dimacs, "plain_arcs", lambda _: None)
    text = "p max 2 2\nn 1 s\nn 2 t\na 1 2 0.5\na 1 2 99999999999999999999\n"
    with pytest.raises(graphtv.DimacsError, match="line 5: an integer capacity must be below 2⁶³"):
        graphtv.read_dimacs(io.StringIO(text))


@pytest.mark.parametrize("is_fast", [True, False])
def test_dimacs_negative_zero_is_zero(is_fast, monkeypatch):
    """Among real numbers, -0 was the float -0.0 by blocks, and the integer 0 by lines."""
    if not is_fast:
        monkeypatch.setattr(dimacs, "plain_arcs", lambda _: None)
    text = "p max 2 3\nn 1 s\nn 2 t\na 1 2 0.5\na 1 2 -0\na 1 2 -0.0\n"
    capacities = graphtv.read_dimacs(io.StringIO(text)).capacities
    assert capacities.tobytes() == np.array([0.5, 0.0, 0.0]).tobytes()


def test_dimacs_gzip_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(dimacs, "MOST_UNPACKED", 1 << 20)
    bomb = gzip.compress(b"c\n" * (1 << 23))
    with pytest.raises(graphtv.DimacsError, match="unpacks to more than 100 times"):
        graphtv.read_dimacs(io.BytesIO(bomb))


@pytest.mark.parametrize("path", [None, 3, 0.5, [], np.zeros(3), ""])
def test_write_dimacs_names_a_wrong_path(path):
    network = FlowNetwork(2, np.array([[0, 1]]), np.array([1]), 0, 1)
    with pytest.raises(ValueError, match="path must be"):
        graphtv.write_dimacs(network, path)


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (graphtv.fused_lasso, ([[0, 1]], [1.0, 2e308 / 2]), "signal"),
        (graphtv.fused_lasso, ([[0, 1]], [[1, 2], [3]]), "signal"),
        (graphtv.denoise_tv, (np.full((3, 3), 1.7e308),), "image"),
        (graphtv.suggest_weight, (np.full((3, 3), 1.7e308),), "data"),
        (graphtv.min_cut, (Graph(2, [(0, 1)]), [1e308, 0.5], [0.5, 1e308]), "capacities"),
        (graphtv.segment, (Graph(2, [(0, 1)]), np.zeros((3, 2))), "cost"),
        (gallery.piecewise_constant_image, ((4, 4), 0, 1e308), "noise"),
    ],
)
def test_huge_or_ragged_input_is_named_and_warns_of_nothing(function, arguments, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=name):
            function(*arguments)


def test_tiny_epsilon_does_not_overflow_the_error_bound():
    """For γ = 5e-324, 2 gap/γ overflows. Its root does not, but is useless as a bound."""
    graph = Graph(3, [(0, 1), (1, 2)], 0.3)
    result = graphtv.segment(graph, np.eye(3), epsilon=5e-324, max_iterations=3)
    assert result.error_bound is None  # 1e160 is no bound for points of the simplex
    tiny = SquaredLoss([1.0, 2.0, 0.0], [5e-324, 1.0, 1.0])
    assert solve(Problem(graph, tiny), max_iterations=5).error_bound is None


def test_estimators_name_options_of_a_wrong_type():
    pytest.importorskip("sklearn")
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    for name in ("solve_options", "loss"):
        for wrong in (np.empty((0, 2)), 3):
            with pytest.raises(ValueError, match=name):
                graphtv.FusedLasso(0.5, **{name: wrong}).fit(X, y)
    with pytest.raises(ValueError, match="X must be"):
        graphtv.TVClassifier(n_neighbors=2).fit(np.where(X > 3, 1e308, X), np.arange(8) % 2)
    with pytest.raises(ValueError, match="bandwidth"):
        graphtv.TVClassifier(bandwidth=np.empty((0, 2))).fit(X, np.arange(8) % 2)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2 << 30)
    for make in (
        lambda: grid_graph((20_000, 20_000)),
        lambda: gallery.path_graph(10**9),
        lambda: gallery.random_tree(10**9),
        lambda: gallery.erdos_renyi_graph(10**9, 10**9),
        lambda: graphtv.knn_graph(np.zeros((100_000, 1)), 1000),
    ):
        with pytest.raises(MemoryError, match=r"needs at least .* GB"):
            make()
    monkeypatch.setattr(_memory, "WORTH_A_LOOK", 1)
    monkeypatch.setattr(_memory, "available_memory", lambda: 1000)
    problem = Problem(Graph(100, [(0, 1)]), SquaredLoss(np.zeros(100)))
    with pytest.raises(MemoryError, match="solve needs at least"):
        solve(problem)


def test_available_memory_is_a_number_of_bytes_here():
    free = _memory.available_memory()
    assert free is None or free > 1 << 20

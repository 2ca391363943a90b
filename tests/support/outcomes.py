"""Prints results that must not depend on the processor: folds, pieces, df, λ, labels, and more.

``test_processors.py`` runs this as a script under several settings of NumPy and of the C library,
and compares the output exactly. Numbers are printed by their bits or by a digest of them. All
inputs come from integers and uniform numbers, since NumPy's normal numbers use the logarithm of
the C library.
"""

import hashlib

import numpy as np

import graphtv as gtv
from graphtv import gallery
from graphtv.applications.fused.cross_validation import spread_folds
from graphtv.applications.fused.degrees_of_freedom import fused_components
from graphtv.decomposition.condition import condition_number


def digest(array):
    """Return a digest of all bits of an array."""
    array = np.ascontiguousarray(array)
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def show(name, *values):
    """Print a line: arrays by digest, numbers in their shortest exact form."""
    print(name, *(digest(v) if isinstance(v, np.ndarray) else v for v in values))


def noise(shape, seed):
    """Return approximately normal numbers, as sums of uniform ones."""
    return np.random.default_rng(seed).random((12, *np.atleast_1d(shape))).sum(axis=0) - 6.0


def graphs():
    """Return graphs whose degrees, weights and distances have many ties, and one without."""
    lattice = np.stack(np.meshgrid(np.arange(17), np.arange(13)), axis=-1).reshape(-1, 2) * 0.1
    scattered = np.random.default_rng(1).random((400, 2))
    return {
        "path": gtv.grid_graph((300,)),
        "grid": gtv.grid_graph((24, 24)),
        "lattice": gtv.knn_graph(lattice, 6),
        "scattered": gtv.knn_graph(scattered, 8),
        "doubles": gtv.knn_graph(np.repeat(scattered[:60], 3, axis=0), 11),
        "tree": gallery.random_tree(200, rng=2),
    }


def paths():
    """Print the paths of the fused lasso for every loss."""
    for name, graph in graphs().items():
        show(f"{name} edges", graph.edges, graph.weights)
        show(f"{name} folds", spread_folds(graph, 5, 0))
        n = graph.n_vertices
        steps = np.floor(np.arange(n) * 4 / n) - 1.0
        data = {
            "squared": steps + 0.5 * noise(n, 1),
            "absolute": steps + 0.5 * noise(n, 2),
            "huber": steps + 0.5 * noise(n, 3),
            "logistic": np.where(steps + noise(n, 4) > 0.5, 1.0, -1.0),
            "poisson": np.floor(2.0 * (steps + 2.0) * np.random.default_rng(5).random(n)),
        }
        for loss, signal in data.items():
            path = gtv.fused_lasso_path(graph, signal, n_lambdas=8, loss=loss, cv=3)
            chosen = [path.best_index(c) for c in ("aic", "bic", "gcv", "cv", "cv_1se")]
            pieces = np.stack([fused_components(graph, result) for result in path.results])
            show(f"{name} {loss}", path.df.tolist(), chosen, path.lambdas, path.u, pieces)


def classes():
    """Print labels of images and points, with ties and without."""
    image = np.floor(np.random.default_rng(6).random((24, 24, 3)) * 64) + 64.0
    image[:, 12:] += 32.0
    scribbles = np.zeros((24, 24), dtype=int)
    scribbles[4:7, 2:5], scribbles[15:18, 18:21], scribbles[20, 3] = 1, 2, 3
    labels, result = gtv.segment_image(image, scribbles, return_result=True)
    show("segment_image", labels, result.u)
    symmetric = np.zeros((9, 9), dtype=int)
    symmetric[4, 0], symmetric[4, 8] = 1, 2
    show("segment_image, a tie", gtv.segment_image(np.zeros((9, 9)), symmetric).tolist())
    points = np.random.default_rng(7).random((300, 3))
    points[150:] += 0.4
    known = np.where(np.arange(300) % 25 == 0, np.arange(300) // 150, -1)
    model = gtv.TVClassifier(n_neighbors=8).fit(points, known)
    show("TVClassifier", model.transduction_, model.predict(points[::7] + 0.01))


def solves():
    """Print solutions for losses that need logarithms, by methods with many iterations."""
    graph = gtv.grid_graph((20, 20))
    weights = 0.5 + np.random.default_rng(11).random(400)
    labels = np.where(np.random.default_rng(12).random(400) < 0.4, 1.0, -1.0)
    counts = np.floor(9.0 * np.random.default_rng(13).random(400))
    cost = np.random.default_rng(14).random((400, 3))
    terms = {
        "logistic": gtv.LogisticLoss(labels, weights),
        "poisson": gtv.PoissonLoss(counts, weights),
        "simplex": gtv.EntropicSimplex(cost, 0.1),
    }
    for name, term in terms.items():
        problem = gtv.Problem(gtv.Graph(400, graph.edges, 0.3 * graph.weights), term)
        for settings in ("auto", "pdhg"):
            result = gtv.solve(problem, method=settings, tol=1e-6, max_iterations=500)
            show(f"{name} {settings}", result.primal, result.dual, result.u, result.p)


def rest():
    """Print other choices: weights, partitions, cuts, estimators."""
    image = np.floor(np.arange(40 * 40).reshape(40, 40) / 400) + 0.2 * noise((40, 40), 8)
    show("suggest_weight", gtv.suggest_weight(image), gtv.estimate_noise(image))
    show("denoise_tv", gtv.denoise_tv(image, 0.3))
    graph = gtv.grid_graph((12, 12))
    for method in ("chains", "linear", "nested", "matroid", "auto"):
        show(f"decompose {method}", gtv.decompose(graph, method).labels)
    points = np.random.default_rng(9).random((200, 2))
    model = gtv.FusedLasso().fit(points, np.floor(3 * points[:, 0]) + 0.1 * noise(200, 10))
    show("FusedLasso", model.lam_, model.df_, model.labels_, model.predict(points + 0.003))
    kappa = condition_number(gallery.erdos_renyi_graph(500, 1000, rng=0), "linear")
    show("condition_number", f"{kappa:.6g}")


def groups():
    """Print solutions for penalties of groups, which Newton's method ends, and clusters."""
    image = np.floor(np.arange(24 * 24).reshape(24, 24) / 100) + 0.2 * noise((24, 24), 15)
    colours = np.stack([image, 0.5 * image, image**2 / 4], axis=-1)
    for name, options in (
        ("isotropic", {"isotropic": True}),
        ("coupled", {"isotropic": True, "coupled": True, "channel_axis": -1}),
    ):
        given = colours if "channel_axis" in options else image
        u, result = gtv.denoise_tv(given, 0.3, tol=1e-8, return_result=True, **options)
        show(f"denoise_tv {name}", u, result.status, result.iterations)
    points = np.random.default_rng(16).random((60, 2))
    points[20:40] += 2.0
    model = gtv.ConvexClustering().fit(points)
    show("ConvexClustering", model.labels_, model.n_clusters_)


if __name__ == "__main__":
    groups()
    paths()
    classes()
    solves()
    rest()

"""The folders follow the data: each step imports only the steps before it."""

import ast
import itertools
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import graphtv

ROOT = Path(graphtv.__file__).parent
PROJECT = Path(__file__).parents[2]

LAYERS = (
    ("_validate",),
    ("_memory", "_deprecation", "_elementary", "_nearest", "_shares", "_ties", "_atomic"),
    ("graph",),
    ("decomposition",),
    ("tv",),
    ("terms",),
    ("normal_form",),
    ("operators",),
    ("objective",),
    ("problem",),
    ("result",),
    ("solver",),
    ("scale",),
    ("applications",),
    ("restoration",),
    ("derivatives",),
    ("jax", "torch"),
    ("adapters",),
    ("io",),
    ("gallery", "datasets"),
    ("plot",),
    ("paper",),
    ("napari",),
    ("app",),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

CONVENIENCE = {
    ("decomposition.partition", "plot"),  # a partition draws itself if asked
    ("graph.neighbours", "scale"),  # knn_graph of a dask array returns a graph in parts
}


def statements(tree):
    """Yield all nodes but those for type checkers."""
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from statements(child)


def imports():
    """Yield the importing module, the imported one and the name, without the package's name."""
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                for alias in node.names:
                    if node.module == "graphtv":
                        yield module, alias.name, alias.name
                    elif str(node.module).startswith("graphtv."):
                        yield module, str(node.module).removeprefix("graphtv."), alias.name
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("graphtv."):
                        yield module, alias.name.removeprefix("graphtv."), alias.name


IMPORTS = [found for found in imports() if found[0] != "__init__"]


def step(module):
    return module.partition(".")[0]


def test_every_folder_has_its_place():
    folders = {path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert folders - {"__init__", "__pycache__"} == set(LEVEL)


@pytest.mark.parametrize("layer", LEVEL)
def test_imports_lead_back_only(layer):
    wrong = {
        (module, target)
        for module, target, _ in IMPORTS
        if step(module) == layer
        and LEVEL.get(step(target), -1) >= LEVEL[layer]
        and step(target) != layer
    }
    assert {(module, step(target)) for module, target in wrong} <= CONVENIENCE


def test_no_cycles():
    """Imports inside functions count, those for type checkers do not."""
    modules = {module for module, _, _ in IMPORTS}
    graph = {}
    for module, target, name in IMPORTS:
        whole = f"{target}.{name}"
        imported = whole if whole in modules else target
        if (module, step(imported)) not in CONVENIENCE and imported != module:
            graph.setdefault(module, set()).add(imported)
    list(TopologicalSorter(graph).static_order())  # raises if there is one


def test_no_private_names_of_other_folders():
    wrong = [
        found
        for found in IMPORTS
        if found[2].startswith("_") and "." in found[1] and step(found[0]) != step(found[1])
    ]
    assert not wrong


LONGEST_FILE = 450


def test_files_are_short_enough_to_read_at_once():
    lengths = {
        path.relative_to(PROJECT): len(path.read_text(encoding="utf-8").splitlines())
        for folder, ending in (("src", "py"), ("cpp", "cpp"), ("cpp", "hpp"))
        for path in (PROJECT / folder).rglob(f"*.{ending}")
    }
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


# Modules outside of `terms` that ask for the class of a term or a penalty, and why.
ASKING = {
    "normal_form": {"CoreTerm"},  # only the core's terms can be rescaled
    "operators.misfit": {"WeightedLoss"},  # an operator needs derivatives and sublevel sets
    "derivatives.solution": {"WeightedLoss"},  # a derivative needs those of the loss
    "scale.loss": {"HuberLoss", "LogisticLoss", "PoissonLoss"},  # parts make terms of their own
    "solver.facts": {"WeightedLoss"},
    "solver.newton": {"WeightedLoss"},
    "solver.pdhg": {"CoreTerm"},  # custom terms have a proximal map in Python
    "applications.imaging.denoising": {"TotalVariation", "HuberTV"},  # the argument `penalty`
}


def test_modules_ask_for_traits_and_not_for_classes():
    classes = {"CoreTerm", "WeightedLoss", "LocationLoss", *graphtv.terms.__all__}
    asking = {}
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                if names & classes and step(module) != "terms":
                    asking.setdefault(module, set()).update(names & classes)
    assert asking == ASKING


def test_the_problem_knows_no_class_but_its_default():
    known = {name for module, _, name in IMPORTS if module == "problem"}
    assert known & set(graphtv.terms.__all__) == {"DataTerm", "Penalty", "TotalVariation"}


COMPUTING = (
    "graph",
    "decomposition",
    "tv",
    "terms",
    "operators",
    "objective",
    "solver",
    "scale",
    "applications",
    "derivatives",
)


def numeric_constants(body):
    """Yield assignments of numbers with the statement after each."""
    for node, after in itertools.pairwise([*body, None]):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            is_plain = not any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(value))
            constants = [n for n in ast.walk(value) if isinstance(n, ast.Constant)]
            if parts and is_plain and all(isinstance(c.value, int | float) for c in constants):
                yield node, after


def test_constants_say_what_they_mean():
    silent = []
    for folder in COMPUTING:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = ast.parse(path.read_text(encoding="utf-8"))
            tunings = [n for n in module.body if getattr(n, "name", "") in ("Tuning", "Costs")]
            for body in (module.body, *(each.body for each in tunings)):
                for node, after in numeric_constants(body):
                    text = getattr(getattr(after, "value", None), "value", None)
                    if not isinstance(text, str):
                        silent.append((path.name, ast.unparse(node)))
    assert silent == []


def test_the_check_sees_imports():
    assert ("solver.solve", "problem", "Problem") in IMPORTS
    assert len(IMPORTS) > 500


# Tests that mirror no folder of the sources.
WHOLE = {"support", "reference", "robustness", "theorems", "project", "benchmarks"}


def folders(path):
    return {child.name for child in path.iterdir() if child.is_dir() and child.name[0] not in "_."}


def test_tests_mirror_the_sources():
    sources = folders(PROJECT / "src" / "graphtv") | folders(PROJECT / "cpp")
    assert folders(PROJECT / "tests") - WHOLE <= sources
    groups = folders(PROJECT / "src" / "graphtv" / "applications")
    assert folders(PROJECT / "tests" / "applications") <= groups


def test_only_loose_modules_have_loose_tests():
    modules = {path.stem.removeprefix("_") for path in ROOT.glob("*.py")}
    tests = {path.stem.removeprefix("test_") for path in (PROJECT / "tests").glob("test_*.py")}
    assert tests <= modules

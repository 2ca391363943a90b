"""``graphtv fuse``: the fused lasso for tables of values on a graph."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError
from graphtv.cli.files import STANDARD, check_distinct, check_output, shown, write_bytes
from graphtv.cli.solving import (
    EXIT_HELP,
    add_output_options,
    add_solver_options,
    nonnegative,
    positive,
    positive_count,
    report,
    solving,
)
from graphtv.cli.tables import Table, encode_table, is_number

if TYPE_CHECKING:
    from graphtv.graph.graph import Graph
    from graphtv.result import Result

CRITERIA = ("auto", "aic", "bic", "gcv", "cv", "cv_1se")
LOSSES = ("squared", "absolute", "huber", "logistic", "poisson")
WEIGHTS = ("weight", "weights")
"""Columns with this name contain weights, unless an option names another column."""

DESCRIPTION = """\
Fit the fused lasso to values on a graph: the result is piecewise constant, with a
certificate.

EDGES has one row per edge: two vertices, and optionally a weight in a third column.
SIGNAL has one row per vertex: its name, then one or more columns of values. Empty
fields are missing values. A column named `weight` contains observation weights.
Vertex names can be any text. A header is optional. Fields are separated by commas,
semicolons, tabs or spaces.

OUT has the rows of SIGNAL with the fitted values instead of the measured ones."""

EXAMPLES = """\
examples:
  graphtv fuse edges.csv signal.csv fused.csv
  graphtv fuse edges.csv signal.csv fused.csv --lam 2.5 --pieces
  graphtv fuse roads.tsv counts.tsv - --loss poisson --lam cv > fused.tsv
  graphtv fuse borders.csv counties.csv out.csv --id fips --value rate --json

lambda:
  A number, or a criterion that chooses one of 50 values: aic, bic, gcv, or
  cross-validation (cv; cv_1se for the simplest fit within one standard error).
  A larger value fuses more. The default `auto` means bic.

"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.usage = "graphtv fuse EDGES SIGNAL OUT [options]"
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES + EXIT_HELP
    parser.add_argument("edges", metavar="EDGES", help="table of edges; - for standard input")
    parser.add_argument("signal", metavar="SIGNAL", help="table of vertices; - for standard input")
    parser.add_argument("output", metavar="OUT", help="table of results; - for standard output")
    parser.add_argument(
        "--lam", type=_lambda, default="auto", metavar="L", help="a number, or a criterion (below)"
    )
    parser.add_argument("--loss", choices=LOSSES, default="squared", help="default: squared")
    parser.add_argument(
        "--delta",
        type=positive,
        default=1.0,
        metavar="D",
        help="threshold above which the Huber loss is linear (default: %(default)s)",
    )
    parser.add_argument(
        "--sparsity",
        type=nonnegative,
        default=0.0,
        metavar="M",
        help="weight of the l1 penalty on the values (default: %(default)s)",
    )
    parser.add_argument(
        "--folds",
        type=positive_count,
        default=5,
        metavar="K",
        help="number of cross-validation folds (default: %(default)s)",
    )
    columns = parser.add_argument_group("columns, by name or number")
    columns.add_argument("--id", metavar="C", help="vertex names in SIGNAL (default: the first)")
    columns.add_argument(
        "--value", metavar="C,…", help="values in SIGNAL (default: all other columns)"
    )
    columns.add_argument(
        "--vertex-weight", metavar="C", help="weights in SIGNAL (default: `weight`, if it exists)"
    )
    columns.add_argument(
        "--edge-weight",
        metavar="C",
        help="weights in EDGES (default: `weight` or the third column; `none`: all weights are 1)",
    )
    add_solver_options(parser, "0, the exact solution, where max-flow can compute it")
    add_output_options(parser)
    parser.add_argument(
        "--pieces", action="store_true", help="add a column that numbers the pieces"
    )


def _lambda(text: str) -> float | str:
    return text if text in CRITERIA else positive(text)


_lambda.__name__ = "lambda"


def run(arguments: argparse.Namespace) -> int:
    """Fuse a signal."""
    check_output(arguments.output, force=arguments.force)
    check_distinct({"EDGES": arguments.edges, "SIGNAL": arguments.signal})
    if arguments.json and arguments.output == STANDARD:
        raise UsageError("--json and OUT must not both go to standard output; OUT must be a file")
    signal = read_signal(arguments)
    graph = read_edges(arguments, signal)
    with solving("fusing", arguments, 1e-12) as options:
        result, lam = _solve(arguments, signal, graph, options)
    count, pieces = _pieces(graph, result.u)
    rows = _rows(signal, result, pieces if arguments.pieces else None)
    write_bytes(arguments.output, encode_table(rows, signal.delimiter))
    facts: dict[str, Any] = {"lam": lam, "pieces": count}
    if arguments.json:
        facts |= {
            "output": arguments.output,
            "vertices": graph.n_vertices,
            "edges": graph.n_edges,
            "columns": signal.names,
            "observations": int((signal.weights > 0).sum()),
        }
    return report(arguments, result, shown(arguments.output, "output"), facts)


def _solve(
    arguments: argparse.Namespace, signal: Signal, graph: Graph, options: dict[str, Any]
) -> tuple[Result, float]:
    from graphtv.applications.fused.fused_lasso import fused_lasso
    from graphtv.applications.fused.fused_lasso_path import fused_lasso_path

    model: dict[str, Any] = {
        "vertex_weights": signal.weights,
        "loss": arguments.loss,
        "delta": arguments.delta,
        "sparsity": arguments.sparsity,
    }
    lam = arguments.lam
    if isinstance(lam, float):
        exact = {} if arguments.loss == "absolute" or arguments.sparsity else {"tol": 0.0}
        return fused_lasso(graph, signal.values, lam=lam, **model, **(exact | options)), lam
    criterion = "bic" if lam == "auto" else lam
    folds = arguments.folds if criterion.startswith("cv") else None
    path = fused_lasso_path(graph, signal.values, cv=folds, **model, **options)
    if (what := path.end_of_path(criterion)) is not None:
        print(f"graphtv fuse: {what}", file=sys.stderr)
    return path.best(criterion), path.best_lambda(criterion)


# Tables ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Signal:
    """Values of the vertices, shape (n,) or (n, C); missing values are 0 with weight 0."""

    ids: dict[str, int]
    id_name: str
    names: list[str]
    values: Any
    weights: Any
    delimiter: str
    has_header: bool
    file: str


def read_signal(arguments: argparse.Namespace) -> Signal:
    """Read the table of vertices."""
    import numpy as np

    table = Table(arguments.signal)
    if table.n_columns < 2:
        table.fail(table.rows[0].line, "expected a vertex and a value, got one field")
    if _has_header(table, arguments):
        table.take_header()
    header = table.header or [f"column {k + 1}" for k in range(table.n_columns)]
    at = 0 if arguments.id is None else table.column(arguments.id, "--id")
    weight = _weight_column(table, arguments.vertex_weight, "--vertex-weight")
    columns = _value_columns(table, arguments.value, (at, weight))
    ids = _names(table, at)
    values = np.array(
        [[table.number(row, c, what=header[c]) for c in columns] for row in table.rows]
    )
    weights = np.ones(len(table.rows)) if weight is None else _weights(table, weight)
    known: Any = ~np.isnan(values)
    for c, is_known in zip(columns, known.any(axis=0).tolist(), strict=True):
        if not is_known:
            raise UsageError(f"{table.name}: there is no number in {header[c]}")
    shape = len(ids) if len(columns) == 1 else values.shape
    return Signal(
        ids,
        header[at],
        [header[c] for c in columns],
        np.where(known, values, 0.0).reshape(shape),
        (weights[:, None] * known).reshape(shape),
        table.delimiter,
        table.header is not None,
        table.name,
    )


def _value_columns(table: Table, given: str | None, others: tuple[int | None, ...]) -> list[int]:
    """Return the columns of the values: those given, or all but the others."""
    if given is not None:
        return [table.column(name, "--value") for name in given.split(",")]
    columns = [k for k in range(table.n_columns) if k not in others]
    if not columns:
        raise UsageError(f"{table.name}: there is no column of values besides the weights")
    return columns


def _names(table: Table, column: int) -> dict[str, int]:
    """Return the row of each vertex by its name."""
    rows: dict[str, int] = {}
    for k, row in enumerate(table.rows):
        name = row.fields[column]
        if name in rows:
            table.fail(row.line, f"{name!r} is a duplicate of line {table.rows[rows[name]].line}")
        if not name:
            table.fail(row.line, "the name of the vertex is empty")
        rows[name] = k
    return rows


def _weights(table: Table, column: int) -> Any:
    """Return the weights of the vertices."""
    import numpy as np

    weights = np.array([table.number(row, column, what="a weight") for row in table.rows])
    for row, weight in zip(table.rows, weights.tolist(), strict=True):
        if not weight >= 0.0:
            table.fail(row.line, f"a weight must be at least 0, got {row.fields[column]!r}")
    return weights


def _has_header(table: Table, arguments: argparse.Namespace) -> bool:
    """Return whether the first row is a header, without numbers in the value columns."""
    first = table.rows[0].fields
    given = [] if arguments.value is None else arguments.value.split(",")
    named = [arguments.id, arguments.vertex_weight, *given]
    if any(name is not None and not name.isdigit() for name in named):
        return True
    places = [int(name) for name in given] or range(2, len(first) + 1)
    fields = [first[place - 1] for place in places if place <= len(first)]
    return not any(is_number(field) for field in fields)


def read_edges(arguments: argparse.Namespace, signal: Signal) -> Graph:
    """Read the table of edges, between the vertices of the signal."""
    import numpy as np

    from graphtv.graph.graph import Graph

    table = Table(arguments.edges)
    if table.n_columns < 2:
        table.fail(table.rows[0].line, "expected two vertices, got one field")
    first = table.rows[0].fields
    is_edge = any(name in signal.ids for name in first[:2])
    if not is_edge and (len(first) == 2 or not all(map(is_number, first[2:]))):
        table.take_header()
    weight = None
    if arguments.edge_weight != "none":
        weight = _weight_column(table, arguments.edge_weight, "--edge-weight")
        if weight is None and table.n_columns > 2:
            weight = 2
    edges = np.empty((len(table.rows), 2), dtype=np.int64)
    weights = np.ones(len(table.rows))
    for k, row in enumerate(table.rows):
        for side, name in enumerate(row.fields[:2]):
            if name not in signal.ids:
                table.fail(
                    row.line,
                    f"{name!r} is not a vertex of {signal.file}; if it was not measured, add a row"
                    " without a value",
                )
            edges[k, side] = signal.ids[name]
        if weight is not None:
            weights[k] = table.number(row, weight, what="a weight")
            if not weights[k] >= 0.0:
                table.fail(row.line, f"a weight must be at least 0, got {row.fields[weight]!r}")
    return Graph(len(signal.ids), edges, weights)


def _weight_column(table: Table, name: str | None, option: str) -> int | None:
    if name is not None:
        return table.column(name, option)
    lower = [field.lower() for field in table.header or []]
    return next((lower.index(known) for known in WEIGHTS if known in lower), None)


def _pieces(graph: Graph, u: Any) -> tuple[int, Any]:
    """Return the number of pieces of equal value and the piece of each vertex."""
    from graphtv.graph.components import connected_components

    tails, heads = graph.edges.T
    columns = u.reshape(graph.n_vertices, -1)
    return connected_components(graph, (columns[tails] == columns[heads]).all(axis=1))


def _rows(signal: Signal, result: Result, pieces: Any) -> list[list[object]]:
    further = [] if pieces is None else ["piece"]
    rows: list[list[object]] = [[signal.id_name, *signal.names, *further]] * signal.has_header
    values = result.u.reshape(len(signal.ids), -1).tolist()
    for k, name in enumerate(signal.ids):
        rows.append([name, *values[k], *([] if pieces is None else [int(pieces[k]) + 1])])
    return rows

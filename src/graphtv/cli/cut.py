"""``graphtv cut``: a minimum cut, or a maximum flow, of a network in DIMACS format."""

from __future__ import annotations

import argparse
import sys
import time
from io import BytesIO
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError
from graphtv.cli.files import STANDARD, check_distinct, check_output, read_bytes, write_bytes
from graphtv.cli.solving import (
    EXIT_CODES,
    EXIT_HELP,
    add_output_options,
    add_solver_options,
    print_json,
    run_facts,
    solving,
)

if TYPE_CHECKING:
    from graphtv.applications.cuts.flow_network import FlowNetwork
    from graphtv.applications.cuts.min_cut import Cut

TOLERANCE = 1e-3

MAX_FLOW = "max-flow"
"""The method of a cut that needed no solver; see `Cut.method`."""

DESCRIPTION = """\
Compute a minimum cut between the source and the sink of a network. A flow of the
same value proves that it is optimal. The result is exact for integer capacities.

The network is a DIMACS max-flow file, optionally compressed with gzip:
  c a comment
  p max VERTICES ARCS
  n SOURCE s
  n SINK t
  a TAIL HEAD CAPACITY        vertices are counted from 1"""

EXAMPLES = """\
examples:
  graphtv cut network.max
  graphtv cut network.max.gz --side side.txt --flow flow.txt
  zcat network.max.gz | graphtv cut - --json

--side writes the vertices on the source side, one per line, numbered as in the
network, or a boolean array if the name ends in .npy. --flow writes a maximum flow
as a DIMACS solution: `s VALUE`, then `f TAIL HEAD FLOW` for every arc.

"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.usage, parser.description = "graphtv cut FILE [options]", DESCRIPTION
    parser.epilog = EXAMPLES + EXIT_HELP.replace(
        "solved: the relative gap is proved to be at most --tol", "solved: no cut is smaller"
    )
    parser.add_argument("input", metavar="FILE", help="the network; - for standard input")
    parser.add_argument("--side", metavar="OUT", help="write the source side to this file")
    parser.add_argument("--flow", metavar="OUT", help="write a maximum flow to this file")
    add_solver_options(parser, "1e-3, then augmenting paths")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Cut a network."""
    outputs = {
        f"--{name}": path
        for name, path in (("side", arguments.side), ("flow", arguments.flow))
        if path is not None
    }
    for name, path in outputs.items():
        if path == STANDARD:
            raise UsageError(f"{name} must be a file; standard output is for the value of the cut")
        check_output(path, force=arguments.force)
    check_distinct(outputs)
    from graphtv.io.dimacs import DimacsError, read_dimacs

    stream = BytesIO(read_bytes(arguments.input))
    stream.name = "standard input" if arguments.input == STANDARD else arguments.input
    try:
        network = read_dimacs(stream)
    except DimacsError as error:
        raise UsageError(str(error)) from None
    start = time.perf_counter()
    with solving("cutting", arguments, TOLERANCE) as options:
        cut = network.min_cut(**options)
    seconds = time.perf_counter() - start
    status = _status(cut, arguments)
    if arguments.side is not None:
        write_bytes(arguments.side, _side(cut, arguments.side))
    if arguments.flow is not None and cut.certified:
        write_bytes(arguments.flow, _flow(cut, network))
    elif arguments.flow is not None:
        print(f"{arguments.flow} is not written: the cut is not certified", file=sys.stderr)
    _print(cut, status, seconds, arguments)
    return EXIT_CODES[status]


def _status(cut: Cut, arguments: argparse.Namespace) -> str:
    """Return the status of the whole search; the solver's status covers its first part only."""
    if cut.certified:
        return "optimal"
    if cut.method != MAX_FLOW and cut.result.status != "optimal":
        return cut.result.status
    if arguments.time_limit is not None:
        return "time_limit"
    return "interrupted" if isinstance(cut.value, int) else "stalled"


def _print(cut: Cut, status: str, seconds: float, arguments: argparse.Namespace) -> None:
    n_source, n = int(cut.source_side.sum()), len(cut.source_side)
    if arguments.json:
        gap = cut.value - cut.bound
        facts: dict[str, Any] = {
            "status": status,
            "value": cut.value,
            "bound": cut.bound,
            "certified": cut.certified,
            "primal": cut.value,
            "dual": cut.bound,
            "gap": gap,
            "relative_gap": gap / cut.value if cut.value else 0.0,
            "source_side": n_source,
            "vertices": n,
            "exit_code": EXIT_CODES[status],
        }
        run = _flow_facts(seconds) if cut.method == MAX_FLOW else run_facts(cut.result)
        print_json(arguments, run | facts)
    elif arguments.quiet:
        print(cut.value)
    else:
        print(f"value        {cut.value}")
        print(f"certified    {'yes' if cut.certified else f'no, {status}'}")
        print(f"bound        {cut.bound}")
        print(f"source side  {n_source} of {n} vertices")


def _flow_facts(seconds: float) -> dict[str, Any]:
    """Return what `run_facts` tells of the solver, for a cut that did without it."""
    return {
        "tolerance": 0.0,
        "error_bound": None,
        "iterations": 0,
        "sweeps": 0,
        "time": seconds,
        "method": MAX_FLOW,
        "preconditioner": "none",
        "reason": "augmenting paths are short",
        "stages": [],
    }


def _side(cut: Cut, path: str) -> bytes:
    import numpy as np

    if path.lower().endswith(".npy"):
        buffer = BytesIO()
        np.save(buffer, cut.source_side)
        return buffer.getvalue()
    return "".join(f"{v + 1}\n" for v in np.flatnonzero(cut.source_side).tolist()).encode()


def _flow(cut: Cut, network: FlowNetwork) -> bytes:
    tails, heads = (network.arcs + 1).T.tolist()
    lines = map("f {} {} {}\n".format, tails, heads, cut.flow.edges.tolist())
    return f"s {cut.value}\n{''.join(lines)}".encode()

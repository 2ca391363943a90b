"""Check keywords that functions pass on to `solve`; errors name the function that was called."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphtv.solver.solve import solve


def check_keywords(function: Callable[..., Any], given: Iterable[str], *further: str) -> None:
    """Raise TypeError if a keyword belongs neither to the function nor to `solve`.

    `further` are additional keywords that the function accepts.
    """
    known = [*_keywords(function), *_keywords(solve), *further]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}"
            )


def as_solve_options(options: Any) -> dict[str, Any]:
    """Return the parameter `solve_options` of an estimator as a dictionary, after a check."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"solve_options must be a dict or None, got {options!r}")
    given = dict(options or {})
    check_keywords(solve, given)
    return given


def _keywords(function: Callable[..., Any]) -> list[str]:
    taken = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind in taken]
    return names[1:] if function is solve else names  # the first is the problem

"""Old names of keywords, which still work and warn."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def renamed_keywords(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Accept old keywords of a function, given as old="new", with a DeprecationWarning."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def accept(*arguments: P.args, **keywords: P.kwargs) -> T:
            for old, new in names.items():
                if old in keywords:
                    if new in keywords:
                        raise TypeError(f"{function.__name__}() got both {new!r} and {old!r}")
                    message = f"{function.__name__}(): use {new!r} instead of {old!r}"
                    warnings.warn(message, DeprecationWarning, stacklevel=2)
                    keywords[new] = keywords.pop(old)
            return function(*arguments, **keywords)

        return accept

    return decorate

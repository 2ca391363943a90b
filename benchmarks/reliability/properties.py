"""All properties, by their names on the command line."""

from __future__ import annotations

from reliability import (
    bad_input,
    convergence,
    cut_levels,
    determinism,
    differential,
    exact_applications,
    exact_certificates,
    exact_operators,
    false_success,
    interrupts,
    load,
    metamorphic,
    out_of_memory,
    page_load,
    readers,
    size,
)
from reliability.harness import Property

MODULES = (
    exact_applications,
    exact_certificates,
    exact_operators,
    false_success,
    differential,
    metamorphic,
    convergence,
    cut_levels,
    bad_input,
    readers,
    out_of_memory,
    load,
    size,
    interrupts,
    determinism,
    page_load,
)

PROPERTIES: dict[str, Property] = {module.PROPERTY.key: module.PROPERTY for module in MODULES}

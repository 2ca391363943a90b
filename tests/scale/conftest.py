"""Tests in this folder solve parts as they are given, however small."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graphtv.scale import merging
from graphtv.scale.tuning import TUNING


@pytest.fixture(autouse=True, scope="module")
def no_merging() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "TUNING", replace(TUNING, least_part=0))
        yield

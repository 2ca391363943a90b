"""Progress towards a tolerance."""

import math

import pytest

from graphtv.solver.reach import Reach


def test_the_bar_follows_the_decades_and_never_goes_back():
    reach = Reach(1e-6)
    assert reach(math.inf) == 0.0
    assert reach(1e-2) == 0.0
    assert reach(1e-4) == pytest.approx(0.5)
    assert reach(1e-3) == pytest.approx(0.5)
    assert reach(1e-9) == 1.0
    assert reach(0.0) == 1.0


@pytest.mark.parametrize("gap", [1e-13, 0.0])
def test_a_start_within_the_tolerance_fills_the_bar(gap):
    assert Reach(0.0)(gap) == 1.0

"""The race of preconditioners."""

import math

import numpy as np

from graphtv import Problem, SquaredLoss, grid_graph, solve
from graphtv.app.race import CONTESTANTS, Race
from page_support import asynchronous, encoded, halves, one_tab, paint_halves


def never():
    return False


def test_every_contestant_arrives_and_tells_its_whole_curve():
    rng = np.random.default_rng(0)
    problem = Problem(grid_graph((12, 12), 0.3), SquaredLoss(rng.normal(size=144)))
    told = []
    race = Race(lambda: lambda **options: solve(problem, tol=1e-4, **options), told.append)
    assert not race.work(never)
    assert told[-1]["state"] == "over"
    for name in CONTESTANTS:
        mine = [each for each in told if each["name"] == name]
        points = [point for each in mine for point in each["points"]]
        assert mine[-1]["state"] == "optimal"
        assert [iteration for iteration, _ in points] == sorted(i for i, _ in points)
        assert points[-1][1] <= 1e-4
        assert all(math.isfinite(gap) for _, gap in points)


def test_a_contestant_that_fails_does_not_end_the_others():
    def run(preconditioner, **options):
        if preconditioner == "none":
            raise RuntimeError("oh")
        return solve(Problem(grid_graph((4, 4)), SquaredLoss(np.arange(16.0))), **options)

    told = []
    Race(lambda: run, told.append).work(never)
    states = {each["name"]: each["state"] for each in told}
    assert states.pop("none") == "failed: RuntimeError"
    assert states.pop(None) == "over"
    assert set(states.values()) == {"optimal"}


def test_a_cancelled_race_is_silent():
    told = []
    race = Race(lambda: None, told.append)
    race.cancel()
    assert not race.work(never)
    assert told == []
    race.fail(RuntimeError())
    assert told[0]["state"] == "failed"


async def race_of(tab):
    await tab.say("race")
    best = {}
    while True:
        news = await tab.hear("race", "error")
        if news["type"] == "error" or news["name"] is None:
            return news, best
        for _, gap in news["points"]:
            best[news["name"]] = gap


@asynchronous
async def test_races_run_on_what_the_page_shows():
    async with one_tab() as tab:
        await tab.upload(encoded(halves()))
        await tab.hear("waiting")
        assert "nothing to race" in (await race_of(tab))[0]["message"]
        done = await paint_halves(tab)
        news, best = await race_of(tab)
        assert news["state"] == "over"
        assert set(best) == set(CONTESTANTS)
        assert max(best.values()) <= done["tolerance"]
        await tab.denoise()
        done = await tab.hear_done("denoised")
        news, best = await race_of(tab)
        assert news["state"] == "over"
        assert max(best.values()) <= done["tolerance"]
        await tab.denoise(isotropic=True)
        await tab.hear_done("denoised")
        assert "standard model" in (await race_of(tab))[0]["message"]
        await tab.say("stop race")

"""Decisions from facts and recorded histories alone: no solver runs here."""

import itertools
import math
from dataclasses import replace

import pytest

from graphtv.result import Record
from graphtv.solver.decision import Continue, Moment, Stop, SwitchTo
from graphtv.solver.facts import Facts
from graphtv.solver.plan import Plan, edge_kernel, is_solved_directly, plan, skips_forests
from graphtv.solver.progress import (
    Count,
    PolishAttempt,
    Progress,
    dual_error,
    forecast_dual,
    iterations_ahead,
)
from graphtv.solver.strategy import Strategy
from graphtv.solver.termination import EXACT_GAP, LastProgress, ending
from graphtv.solver.tuning import COSTS, TUNING

SQUARED = Facts(
    n_vertices=10_000,
    n_edges=20_000,
    n_entries=10_000,
    is_squared=True,
    is_complete=True,
    is_sloped=True,
    is_separable=True,
)
BOX = replace(SQUARED, data="LinearBox", is_squared=False, is_sloped=False, is_box=True)
HUBER_TV = replace(SQUARED, is_tv=False, penalty="HuberTV(delta=0.1)")
STIFF = replace(HUBER_TV, is_grid=True, stiffness=100.0, condition=100.0)
SIMPLEX = Facts(
    data="EntropicSimplex", n_vertices=100, n_edges=200, n_entries=300, has_closed_prox=False
)
CURVED_SIMPLEX = replace(SIMPLEX, is_tv=False)
POISSON = replace(SQUARED, data="PoissonLoss", is_squared=False, is_complete=False)
STIFF_COUNTS = replace(
    POISSON, is_tv=False, is_grid=True, longest_side=100, stiffness=1e4, is_curved=True
)
LOGISTIC = replace(POISSON, data="LogisticLoss", has_closed_prox=False)
TREE = replace(SQUARED, n_edges=9_999, has_one_weight=True)


class TestPlan:
    @pytest.mark.parametrize("facts", [SQUARED, POISSON])
    def test_max_flow_from_a_near_start_gives_way_to_the_usual_stage(self, facts):
        near = plan(replace(facts, start_gap=1e-4), TUNING)
        assert near.first_allowance == TUNING.near_flows
        assert near.after_flows == plan(facts, TUNING).stage

    @pytest.mark.parametrize(
        ("facts", "method", "stage", "preconditioner"),
        [
            (SQUARED, "exact", "edges", "auto"),
            (replace(SQUARED, tolerance=1e-3), "descent", "edges", "auto"),
            (replace(SQUARED, method="descent"), "descent", "forests", "auto"),
            (replace(SQUARED, preconditioner="nested"), "exact", "forests", "nested"),
            (replace(SQUARED, preconditioner="custom"), "exact", "forests", "custom"),
            (replace(SQUARED, preconditioner="diagonal"), "pdhg", "pdhg", "diagonal"),
            (replace(SQUARED, is_complete=False, tolerance=1e-2), "exact", "edges", "auto"),
            (replace(SQUARED, start_gap=1e-4), "exact", "flows", "auto"),
            (replace(SQUARED, start_gap=1e-2), "exact", "edges", "auto"),
            (replace(SQUARED, start_gap=1e-4, method="exact"), "exact", "edges", "auto"),
            (
                replace(SQUARED, start_gap=1e-4, preconditioner="nested"),
                "exact",
                "forests",
                "nested",
            ),
            (replace(BOX, start_gap=1e-4, has_even_box=True), "exact", "edges", "auto"),
            (replace(POISSON, start_gap=1e-4), "exact", "flows", "auto"),
            (replace(TREE, start_gap=1e-4), "exact", "forests", "auto"),
            (replace(SQUARED, n_entries=TUNING.small), "exact", "flows", "auto"),
            (replace(SQUARED, n_entries=TUNING.small, tolerance=0.1), "exact", "flows", "auto"),
            (replace(SQUARED, n_entries=TUNING.small + 1), "exact", "edges", "auto"),
            (replace(SQUARED, n_entries=9, method="descent"), "descent", "forests", "auto"),
            (replace(SQUARED, n_entries=9, preconditioner="linear"), "exact", "forests", "linear"),
            (replace(BOX, n_entries=9, has_even_box=True), "exact", "edges", "auto"),
            (replace(POISSON, n_entries=TUNING.small_for_pdhg), "exact", "flows", "auto"),
            (LOGISTIC, "exact", "flows", "auto"),
            (replace(LOGISTIC, tolerance=0.1), "exact", "flows", "auto"),
            (replace(LOGISTIC, is_tv=False), "pdhg", "pdhg", "diagonal"),
            (TREE, "exact", "forests", "auto"),
            (HUBER_TV, "pdhg", "pdhg", "diagonal"),
            (replace(HUBER_TV, preconditioner="linear"), "descent", "forests", "linear"),
            (STIFF, "pdhg", "forests", "auto"),
            (replace(STIFF, stiffness=5.0), "pdhg", "pdhg", "diagonal"),
            (replace(STIFF, condition=30.0), "pdhg", "pdhg", "diagonal"),
            (replace(STIFF, is_grid=False), "pdhg", "pdhg", "diagonal"),
            (replace(STIFF, method="pdhg"), "pdhg", "pdhg", "auto"),
            (replace(STIFF, is_grid=False, stiffness=1e3), "pdhg", "forests", "nested"),
            (
                replace(STIFF, is_grid=False, stiffness=1e3, method="pdhg"),
                "pdhg",
                "pdhg",
                "diagonal",
            ),
            (replace(STIFF, is_complete=False, stiffness=1e3), "pdhg", "pdhg", "diagonal"),
            (
                replace(CURVED_SIMPLEX, n_entries=100, is_grid=True),
                "pdhg",
                "pdhg",
                "auto",
            ),
            (replace(CURVED_SIMPLEX, is_grid=True), "pdhg", "pdhg", "diagonal"),
            (CURVED_SIMPLEX, "pdhg", "pdhg", "diagonal"),
            (replace(STIFF_COUNTS, stiffness=1e3), "pdhg", "pdhg", "auto"),
            (replace(STIFF_COUNTS, stiffness=200.0), "pdhg", "pdhg", "diagonal"),
            (replace(STIFF_COUNTS, is_curved=False), "pdhg", "pdhg", "diagonal"),
            (replace(STIFF_COUNTS, longest_side=20), "pdhg", "pdhg", "diagonal"),
            (
                replace(STIFF, is_squared=False, is_grid=False, n_edges=9_999),
                "pdhg",
                "pdhg",
                "auto",
            ),
            (replace(HUBER_TV, n_edges=9_999), "descent", "forests", "auto"),
            (POISSON, "exact", "pdhg", "auto"),
            (replace(POISSON, method="pdhg"), "pdhg", "pdhg", "auto"),
            (SIMPLEX, "pdhg", "pdhg", "auto"),
            (replace(SIMPLEX, is_vertexwise=False), "pdhg", "pdhg", "auto"),
            (replace(SQUARED, is_tv=False, is_edgewise=False), "pdhg", "pdhg", "diagonal"),
            (
                replace(SIMPLEX, is_vertexwise=False, is_tv=False, is_edgewise=False),
                "pdhg",
                "pdhg",
                "none",
            ),
            (replace(BOX, has_even_box=True), "exact", "edges", "auto"),
            (BOX, "pdhg", "pdhg", "auto"),
        ],
    )
    def test_what_auto_and_requests_lead_to(self, facts, method, stage, preconditioner):
        chosen = plan(facts, TUNING)
        assert (chosen.method, chosen.stage) == (method, stage)
        assert chosen.preconditioner == preconditioner
        may_help_out = facts == replace(SQUARED, tolerance=1e-3)
        assert chosen.flows == (method == "exact" or may_help_out)
        assert chosen.reason

    @pytest.mark.parametrize(
        ("facts", "message"),
        [
            (replace(POISSON, method="descent"), "method must not be 'descent': .*PoissonLoss"),
            (replace(SQUARED, method="descent", is_complete=False), "no data"),
            (replace(HUBER_TV, method="exact"), "flows need TotalVariation, got HuberTV"),
            (replace(SIMPLEX, method="exact"), "known slopes, got EntropicSimplex"),
            (replace(BOX, method="exact"), "same bounds"),
            (replace(SQUARED, is_tv=False, is_edgewise=False, method="descent"), "HuberTV"),
            (
                replace(SQUARED, is_tv=False, is_edgewise=False, preconditioner="linear"),
                "not a sum over edges, got 'linear'",
            ),
            (
                replace(SIMPLEX, is_vertexwise=False, preconditioner="diagonal"),
                "data is not separable",
            ),
            (replace(SQUARED, method="exact", preconditioner="none"), "made of forests"),
        ],
    )
    def test_what_the_mathematics_forbids(self, facts, message):
        with pytest.raises(ValueError, match=message):
            plan(facts, TUNING)

    def test_a_tree_is_solved_directly(self):
        assert is_solved_directly(TREE, 1, TUNING)
        assert not is_solved_directly(TREE, 2, TUNING)
        assert not is_solved_directly(replace(TREE, has_one_weight=False), 1, TUNING)
        assert not is_solved_directly(replace(TREE, n_entries=1 << 22), 1, TUNING)

    def test_a_tree_needs_no_forests_unless_they_are_requested(self):
        assert skips_forests(TREE, TUNING)
        assert not skips_forests(replace(TREE, preconditioner="linear"), TUNING)
        assert not skips_forests(replace(TREE, has_one_weight=False), TUNING)
        assert not skips_forests(replace(TREE, n_edges=TREE.n_vertices), TUNING)

    @pytest.mark.parametrize(
        ("lattice", "n_edges", "kernel"),
        [
            ((100, 100), 19_800, "grid"),
            ((100, 100), 17_000, "lattice"),
            ((25, 20, 20), 28_100, "volume"),
            ((1000, 10), 18_990, "edges"),
            ((10_000,), 9_999, "edges"),
            ((), 20_000, "edges"),
        ],
    )
    def test_the_kernel_over_edges(self, lattice, n_edges, kernel):
        whole = sum(math.prod(lattice) // n * (n - 1) for n in lattice)
        assert edge_kernel(lattice, n_edges, whole, False, TUNING) == kernel
        assert edge_kernel((), n_edges, 0, True, TUNING) == "stencil"


def strategy(tolerance=1e-6, *, flows=True, max_iterations=100_000, **changes):
    method = "exact" if flows else "descent"
    chosen = Plan(method, "", "edges", "auto", flows, prefers_flows=flows, can_polish=True)
    return Strategy(replace(chosen, **changes), tolerance, max_iterations, TUNING)


def history(kernel, *gaps, progress=None, attempts=0):
    """Return the history of a stage with the given gaps at iterations, as the loop records it."""
    if progress is None:
        progress = Progress()
        progress.begin("descent", "none", kernel, Count(0, 0, 0))
    for own, gap in gaps:
        progress.record(Count(own + attempts, own, 0), 1.0, 1.0 - gap)
        progress.goes_on(COSTS[kernel].is_cheap)
    return progress


def falling(power, *iterations, scale=1.0):
    return [(k, scale * k**-power) for k in iterations]


def at(progress, **state):
    look = progress.looks[-1]
    return Moment(look.record.iteration, look.own, elapsed=1.0, **state)


class TestDecisions:
    def test_between_looks_the_stage_goes_on(self):
        progress = history("edges", (1, 0.5), (5, 0.2))
        assert strategy().decide(progress, Moment(7, 7)) == Continue()

    @pytest.mark.parametrize(
        ("kernel", "flows", "keeps"),
        [
            ("edges", False, True),
            ("grid", False, False),
            ("grid", True, False),
            ("volume", True, False),
        ],
    )
    def test_slow_edges_give_way_to_forests(self, kernel, flows, keeps):
        slow = history(kernel, *falling(0.1, 1, 4, 8, 16, 32, scale=7e-3))
        decision = strategy(flows=flows).decide(slow, at(slow))
        assert decision == SwitchTo("forests", keeps_point=keeps)

    @pytest.mark.parametrize("method", ["exact", "descent"])
    def test_but_flows_are_tried_before_where_forests_take_a_search(self, method):
        slow = history("edges", *falling(0.1, 1, 4, 8, 16, 32))
        chosen = strategy(1e-3, method=method)
        assert chosen.decide(slow, at(slow)) == SwitchTo("flows", allowance=150.0)
        slow.begin("flows", "none", "flows", Count(32, 32, 0))
        slow.fail(Count(33, 32, 0))
        now = Moment(33, 32, elapsed=1.0, is_exhausted=True)
        assert chosen.decide(slow, now) == SwitchTo("forests", keeps_point=False)

    def test_but_not_at_low_accuracy_where_weights_are_even(self):
        slow = history("lattice", *falling(0.1, 1, 4, 8, 16, 32))
        even, wide = (replace(SQUARED, tolerance=1e-3, spread=spread) for spread in (3.0, 1e5))
        decisions = [
            Strategy(plan(facts, TUNING), 1e-3, 1000, TUNING).decide(slow, at(slow))
            for facts in (even, wide, replace(even, tolerance=1e-6))
        ]
        assert [decision.stage for decision in decisions] == ["forests", "flows", "flows"]

    def test_a_level_set_needs_no_flow_to_be_exact(self):
        record = Record(8, 0, 0.0, 1.0, 1.0, 0.0)
        assert not strategy(EXACT_GAP).certifies(record, math.inf)
        assert strategy(EXACT_GAP, is_level_set=True).certifies(record, math.inf)

    @pytest.mark.parametrize(("is_blind", "waits"), [(True, True), (False, False)])
    def test_where_data_is_missing_max_flow_costs_more(self, is_blind, waits):
        near = history("pdhg", *falling(4.0, 21, 43, 86, scale=4e-4 * 86**4))  # 36 iterations to go
        decision = strategy(1e-4, is_blind=is_blind).decide(near, at(near))
        assert isinstance(decision, Continue) is waits

    @pytest.mark.parametrize(("kernel", "stage"), [("edges", "flows"), ("grid", "pdhg")])
    def test_where_data_is_missing_descent_is_over_soon(self, kernel, stage):
        fast = history(kernel, *falling(2.0, 1, 4, 8, 16))
        assert strategy(is_blind=True).decide(fast, at(fast)).stage == stage

    def test_in_three_dimensions_chains_come_before_flows(self):
        good = history("volume", *falling(1.0, 1, 8, 16, scale=5e-3))
        decision = strategy(EXACT_GAP).decide(good, at(good))
        assert decision == SwitchTo("forests", keeps_point=False)._replace(
            ready_since=decision.ready_since
        )

    @pytest.mark.parametrize("method", ["exact", "descent"])
    def test_flows_help_out_where_forests_lag(self, method):
        chosen = strategy(1e-3, method=method)
        lagging = history("forests", *falling(0.9, 1, 16, 32))
        assert chosen.decide(lagging, at(lagging)).stage == "flows"
        early = history("forests", *falling(0.9, 1, 8, 16))
        assert chosen.decide(early, at(early)) == Continue()
        steady = history("forests", *falling(1.1, 1, 16, 32))
        assert chosen.decide(steady, at(steady)) == Continue()

    def test_forests_that_overtake_an_earlier_point_do_not_lag(self):
        # A volume of 32 × 128 × 128: edges have left a gap of 4.2e-4, from which chains start anew.
        progress = history("volume", (4, 0.016), (32, 1.3e-3), (76, 4.2e-4))
        progress.begin("descent", "chains", "forests", Count(76, 76, 0))
        progress.goes_on(False)
        for own, gap in ((77, 0.052), (78, 0.024), (82, 5.6e-3), (94, 9.9e-4)):
            progress.record(Count(own, own, 0), 1.0, 1.0 - 4.2e-4, gap)
            progress.goes_on(False)
        history("forests", (109, 2.7e-4), progress=progress)
        assert strategy(1e-6).decide(progress, at(progress)) == Continue()
        # Had the iterates been as slow as the best point, max-flow would be tried.
        assert progress.pace != progress.iterate_pace
        slow = history("forests", (1, 4.2e-4), (16, 4.2e-4), (33, 2.7e-4))
        assert strategy(1e-6).decide(slow, at(slow)).stage == "flows"

    def test_a_trial_of_descent_ends_soon_in_pdhg(self):
        trial = strategy(flows=False, method="pdhg", stage="forests", is_trial=True)
        slow = history("forests", *falling(1.0, 1, 2, 4))
        assert trial.decide(slow, at(slow)) == SwitchTo("pdhg", keeps_point=False)
        fast = history("forests", (1, 1e-2), (2, 1e-4), (4, 2e-6))
        assert trial.decide(fast, at(fast)) == Continue()
        early = history("forests", (1, 0.5), (2, 0.4))
        assert trial.decide(early, at(early)) == Continue()

    @pytest.mark.parametrize(("is_grid", "name"), [(True, "auto"), (False, "diagonal")])
    def test_after_a_trial_pdhg_has_the_preconditioner_of_the_graph(self, is_grid, name):
        chosen = plan(replace(STIFF, is_grid=is_grid, stiffness=1e3), TUNING)
        assert chosen.is_trial
        assert chosen.next_preconditioner == name
        assert not plan(HUBER_TV, TUNING).is_trial

    def test_slow_edges_give_way_to_forests_where_the_data_term_costs_as_much(self):
        chosen = plan(CURVED_SIMPLEX, TUNING)
        assert chosen.edge_trial == 200
        assert plan(replace(CURVED_SIMPLEX, is_grid=True), TUNING).edge_trial == 64
        costly = Strategy(chosen, 1e-6, 100_000, TUNING)
        slow = history("pdhg", *falling(0.5, 1, 100, 200))
        expected = SwitchTo("pdhg", keeps_point=False, preconditioner="nested")
        assert costly.decide(slow, at(slow)) == expected
        early = history("pdhg", *falling(0.5, 1, 100, 199))
        assert costly.decide(early, at(early)) == Continue()
        fast = history("pdhg", *falling(5.0, 1, 100, 200))
        assert costly.decide(fast, at(fast)) == Continue()
        slow.begin("pdhg", "nested", "pdhg", Count(200, 200, 0))
        assert costly.decide(slow, at(slow)) == Continue()

    @pytest.mark.parametrize(
        "facts", [HUBER_TV, replace(CURVED_SIMPLEX, n_entries=100, is_grid=True), SIMPLEX]
    )
    def test_elsewhere_pdhg_goes_on_as_it_began(self, facts):
        chosen = plan(facts, TUNING)
        assert chosen.edge_trial == 0
        slow = history("pdhg", *falling(0.1, 1, 100, 200))
        assert Strategy(chosen, 1e-6, 100_000, TUNING).decide(slow, at(slow)) == Continue()

    def test_after_a_failure_forests_first_do_as_much(self):
        progress = history("edges", *falling(0.1, 1, 4, 8, 16))
        progress.begin("flows", "none", "flows", Count(16, 16, 0))
        progress.fail(Count(17, 16, 0))
        progress.begin("descent", "linear", "forests", Count(17, 16, 0))
        history("forests", (135, 0.5), progress=progress, attempts=1)
        assert strategy(EXACT_GAP).decide(progress, at(progress)) == Continue()
        history("forests", (136, 0.5), progress=progress, attempts=1)
        decision = strategy(EXACT_GAP).decide(progress, at(progress))
        assert decision == SwitchTo("flows", allowance=600.0)

    def test_the_iteration_limit_does_not_keep_edges_from_giving_way(self):
        slow = history("grid", *falling(0.1, 1, 4, 8, 16, 32))
        limited = strategy(max_iterations=32)
        assert limited.decide(slow, at(slow)).stage == "forests"
        good = history("forests", (8, 1e-3), (32, 1e-4))
        assert limited.decide(good, at(good)) == Stop("iteration_limit")

    def test_from_a_poor_point_forests_start_from_scratch(self):
        slow = history("edges", *falling(0.1, 1, 4, 8, 16, 32))
        decision = strategy(flows=False).decide(slow, at(slow))
        assert decision == SwitchTo("forests", keeps_point=False)

    def test_fast_edges_go_on(self):
        fast = history("edges", *falling(2.0, 1, 4, 8, 16, 32))
        assert isinstance(strategy().decide(fast, at(fast)), Continue)

    def test_no_forests_without_time_for_a_decomposition(self):
        slow = history("edges", *falling(0.1, 1, 4, 8, 16, 32))
        assert strategy().decide(slow, at(slow, remaining=2.0)) == Continue()

    def test_a_good_point_is_handed_to_flows(self):
        good = history("edges", *falling(1.0, 1, 8, 16, scale=5e-3))
        decision = strategy(EXACT_GAP).decide(good, at(good))
        assert decision == SwitchTo("flows", allowance=COSTS["edges"].allowance)

    def test_not_before_cheap_iterations_were_done(self):
        early = history("edges", (1, 1e-3), (8, 1e-4))
        assert strategy(EXACT_GAP).decide(early, at(early)) == Continue()
        forests = history("forests", (1, 1e-3), (8, 1e-4))
        assert strategy(EXACT_GAP).decide(forests, at(forests)).stage == "flows"

    def test_flows_come_in_the_end_whatever_the_gap(self):
        far = history("pdhg", *falling(0.1, 1, 100, 399))
        assert strategy().decide(far, at(far)) == Continue()
        far = history("pdhg", *falling(0.1, 1, 100, 400))
        assert strategy().decide(far, at(far)).stage == "flows"
        far = history("forests", *falling(0.1, 1, 10, 30))
        assert strategy(is_blind=True).decide(far, at(far)).stage == "flows"

    def test_flows_wait_for_a_stage_that_is_almost_there(self):
        near = history("edges", *falling(4.0, 4, 8, 16))
        decision = strategy(1e-5).decide(near, at(near))
        assert decision == Continue(waits=True, ready_since=16)
        near.follow(*decision)
        assert strategy(1e-5).next_look(near) < strategy(EXACT_GAP).next_look(near) + 100

    def test_but_not_for_ever(self):
        near = history("edges", *falling(4.0, 4, 8, 16))
        near.follow(True, 16)
        history("edges", (80, 1.1e-5), progress=near)
        decision = strategy(1e-5).decide(near, at(near))
        assert decision == SwitchTo("flows", allowance=150.0, ready_since=16)

    def test_level_sets_are_not_predicted(self):
        near = history("edges", *falling(4.0, 4, 8, 16))
        assert strategy(1e-5, is_level_set=True).decide(near, at(near)).stage == "flows"

    def test_a_stage_with_nothing_left_to_do_hands_over_without_an_allowance(self):
        done = history("forests", (1, 1e-2))
        assert strategy().decide(done, at(done, is_final=True)) == SwitchTo("flows")

    @pytest.mark.parametrize(
        ("kernel", "stage"),
        [("grid", "forests"), ("lattice", "edges"), ("edges", "edges"), ("pdhg", "pdhg")],
    )
    def test_after_a_failure(self, kernel, stage):
        progress = history(kernel, (16, 1e-4))
        progress.begin("flows", "none", "flows", Count(16, 16, 0))
        now = Moment(17, 16, is_exhausted=True)
        assert strategy().decide(progress, now).stage == stage

    def test_the_next_attempt_comes_later_and_may_do_more(self):
        progress = history("edges", (16, 1e-4))
        progress.begin("flows", "none", "flows", Count(16, 16, 0))
        progress.fail(Count(17, 16, 0))
        progress.begin("descent", "none", "edges", Count(17, 16, 0))
        history("edges", (31, 9e-5), progress=progress, attempts=1)
        assert strategy(EXACT_GAP).decide(progress, at(progress)) == Continue()
        history("edges", (32, 9e-5), progress=progress, attempts=1)
        decision = strategy(EXACT_GAP).decide(progress, at(progress))
        assert decision == SwitchTo("flows", allowance=600.0)

    def test_on_grids_with_slow_edges_flows_wait_for_a_smaller_gap(self):
        progress = history("grid", *falling(0.1, 1, 4, 8, 16))
        progress.begin("descent", "chains", "forests", Count(16, 16, 0))
        history("forests", (20, 1e-5), progress=progress)
        assert strategy(EXACT_GAP).decide(progress, at(progress)) == Continue()
        history("forests", (24, 1e-6), progress=progress)
        assert strategy(EXACT_GAP).decide(progress, at(progress)).stage == "flows"

    def test_every_end_is_the_strategy_s(self):
        progress = history("edges", (1, 0.5))
        for state, status in [
            ({"relative_gap": 1e-7, "is_interrupted": True}, "optimal"),
            ({"is_interrupted": True, "is_late": True}, "interrupted"),
            ({"is_late": True}, "time_limit"),
        ]:
            assert strategy().decide(progress, at(progress, **state)) == Stop(status)
        limited = strategy(max_iterations=1)
        assert limited.decide(progress, at(progress)) == Stop("iteration_limit")
        progress.begin("flows", "none", "flows", Count(1, 1, 0))
        assert strategy().decide(progress, Moment(2, 1, is_final=True)) == Stop("stalled")

    def test_a_gap_that_does_not_fall_ends_the_run(self):
        far = history("pdhg", (1, 1e-3))
        plain = strategy(flows=False)
        assert plain.decide(far, Moment(10_001, 10_001)) == Continue()
        assert plain.decide(far, Moment(10_002, 10_002)) == Stop("stalled")
        near = history("pdhg", (1, 1e-11))
        assert strategy(EXACT_GAP, flows=False).decide(near, Moment(2002, 2002)) == Stop("stalled")


class TestLooks:
    def test_strides_grow_up_to_a_limit(self):
        progress, looks = history("pdhg", (1, 0.9)), [1]
        while looks[-1] < 3000:
            looks.append(strategy(flows=False).next_look(progress))
            history("pdhg", (looks[-1], 0.9), progress=progress)
        strides = [b - a for a, b in itertools.pairwise(looks)]
        assert strides[0] == 1
        assert all(s <= max(32, k // 8) for s, k in zip(strides, looks, strict=False))

    def test_most_of_the_way_to_the_target(self):
        progress = history("pdhg", *falling(1.0, 10, 20, 40))
        assert strategy(1.0 / 60.0, flows=False).next_look(progress) == 40 + 12

    def test_cheap_iterations_double_or_go_a_little_beyond_the_end(self):
        progress = history("edges", *falling(1.0, 1, 9, 33))
        assert strategy(1e-4, flows=False).next_look(progress) == 66
        assert strategy(1.0 / 40.0, flows=False).next_look(progress) < 50

    def test_the_past_of_edges_says_nothing_about_forests(self):
        progress = history("edges", *falling(1.0, 1, 9, 33))
        progress.begin("descent", "linear", "forests", Count(33, 33, 0))
        progress.goes_on(False)
        assert progress.pace == []
        assert strategy().next_look(progress) == 34


class TestPolishes:
    def test_first_after_as_many_iterations_as_it_costs(self):
        plain = strategy(1e-4, flows=False)
        assert not plain.polishes(history("edges", (9, 1e-2)), math.inf)
        assert plain.polishes(history("edges", (10, 1e-2)), math.inf)
        assert not strategy(1e-4).polishes(history("edges", (15, 1e-2)), math.inf)
        assert strategy(1e-4).polishes(history("edges", (16, 1e-2)), math.inf)

    def test_near_the_target_only(self):
        plain = strategy(1e-6, flows=False)
        assert not plain.polishes(history("pdhg", (50, 2e-3)), math.inf)
        assert plain.polishes(history("pdhg", (50, 9e-4)), math.inf)
        assert not plain.polishes(history("forests", (50, 9e-4)), math.inf)

    def test_rarer_where_they_fail(self):
        plain, progress = strategy(1e-6, flows=False), history("pdhg", (100, 1e-4))
        for is_success, due in ((True, 130), (False, 250)):
            progress.polish = PolishAttempt(100, is_success, 0.0)
            history("pdhg", (due - 1, 1e-4), progress=progress)
            assert not plain.polishes(progress, math.inf)
            history("pdhg", (due, 1e-4), progress=progress)
            assert plain.polishes(progress, math.inf)

    def test_they_end_exact_runs_only_where_they_are_exact(self):
        assert strategy(1e-6).polish_goal == 1e-6
        assert strategy(EXACT_GAP).polish_goal == TUNING.rounding < EXACT_GAP / 10
        assert strategy(EXACT_GAP, flows=False).polish_goal == EXACT_GAP

    def test_not_without_time_or_where_they_do_not_apply(self):
        progress = history("pdhg", (100, 1e-4))
        progress.polish = PolishAttempt(10, True, 1.0)
        assert not strategy(1e-6, flows=False).polishes(progress, 0.5)
        progress = history("pdhg", (100, 1e-4))
        assert not strategy(1e-6, flows=False, can_polish=False).polishes(progress, math.inf)


class TestNewton:
    """When Newton's method improves the primal point of a descent over groups."""

    @staticmethod
    def history(*looks):
        """Return a history with the given errors of the dual and of the primal objective."""
        progress = Progress()
        progress.begin("descent", "none", "stars", Count(0, 0, 0))
        for own, dual, primal in ((1, 1.0, 1.0), *looks):
            progress.record(Count(own, own, 0), 1.0 + primal, 1.0 - dual)
            progress.goes_on(True)
        return progress

    def test_when_the_dual_point_is_accurate_enough(self):
        s = strategy(flows=False)
        early = self.history((100, 4e-5, 4e-4), (200, 1e-5, 1e-4))
        assert not s.refines(early)
        late = self.history((400, 2.4e-6, 4e-5), (800, 6e-7, 1e-5))
        assert s.refines(late)
        assert s.polishes(late, math.inf)

    def test_not_where_a_few_iterations_more_are_cheaper(self):
        progress = self.history((20, 2e-6, 1e-4), (40, 5e-7, 2e-6))
        assert not strategy(flows=False).refines(progress)

    def test_not_again_at_once(self):
        s = strategy(flows=False)
        progress = self.history((400, 2.4e-6, 4e-5), (800, 6e-7, 1e-5))
        progress.polish = PolishAttempt(800, True, 0.1, is_refined=True)
        assert not s.refines(progress)
        progress.record(Count(1000, 1000, 0), 1.0 + 1e-6, 1.0 - 4e-7)
        assert s.refines(progress)

    def test_only_where_it_applies(self):
        late = self.history((400, 2.4e-6, 4e-5), (800, 6e-7, 1e-5))
        assert not strategy(flows=False, can_polish=False).refines(late)
        late.kernel = "pdhg"
        assert not strategy(flows=False).refines(late)

    def test_the_next_look_is_when_the_dual_point_will_be_good(self):
        s = strategy(flows=False)
        early = self.history((100, 4e-5, 4e-4), (200, 1e-5, 1e-4))
        assert s.next_look(early) == 400  # at most doubled
        near = self.history((400, 4e-6, 4e-4), (800, 1e-6, 1e-4))
        assert 900 <= s.next_look(near) <= 1000

    def test_the_dual_error_follows_from_the_last_increase(self):
        past = [(k, 1.0 - 3.0 / k**2) for k in (10, 20, 25, 28)]
        assert dual_error(past) == pytest.approx(3.0 / 28**2)
        assert dual_error([]) is None
        assert dual_error([(10, 0.5), (11, 0.6)]) is None
        assert dual_error([(10, 0.5), (20, 0.4)]) == 0.0


# Errors of the dual objective over the edges of four graphs with large weights.
NEIGHBOURS = [(1, 0.59), (5, 0.25), (10, 0.098), (20, 0.021), (40, 1.9e-3), (60, 3e-4)]
TORUS = [(1, 0.54), (5, 0.25), (10, 0.13), (20, 0.048), (40, 0.015), (80, 2.3e-3)]
EIGHT = [(1, 0.46), (5, 0.23), (10, 0.13), (20, 0.071), (40, 0.045), (80, 0.027)]
ROADS = [(1, 0.29), (5, 0.055), (10, 0.017), (20, 4e-3), (40, 6.9e-4), (80, 6.7e-5)]


class TestReductions:
    """The primal point may be far from optimal: what counts is the dual objective."""

    @staticmethod
    def late(*errors):
        """Return a history with these errors of the dual objective, and a gap of 20 %."""
        progress = Progress()
        progress.begin("descent", "none", "edges", Count(0, 0, 0))
        for own, error in errors:
            progress.record(Count(own, own, 0), 1.2, 1.0 - error)
            progress.goes_on(True)
        return progress

    @pytest.mark.parametrize("flows", [True, False])
    @pytest.mark.parametrize("errors", [NEIGHBOURS[:-1], TORUS[:-1], EIGHT[:-1], ROADS[:-1]])
    def test_edges_get_time_to_show_how_fast_they_are(self, errors, flows):
        chosen, progress = strategy(1e-3, flows=flows, can_reduce=True), self.late(*errors)
        assert chosen.decide(progress, at(progress)) == Continue()

    @pytest.mark.parametrize("flows", [True, False])
    @pytest.mark.parametrize(("errors", "is_slow"), [(TORUS, False), (EIGHT, True), (ROADS, False)])
    def test_forests_replace_edges_where_the_dual_objective_is_slow(self, errors, is_slow, flows):
        chosen, progress = strategy(1e-3, flows=flows, can_reduce=True), self.late(*errors)
        decision = chosen.decide(progress, at(progress))
        assert (isinstance(decision, SwitchTo) and decision.stage == "forests") is is_slow

    def test_max_flow_starts_when_the_dual_point_is_good(self):
        chosen, progress = strategy(can_reduce=True), self.late(*ROADS)
        assert isinstance(chosen.decide(progress, at(progress)), Continue)
        progress = self.late(*ROADS, (160, 2.9e-6))
        assert chosen.decide(progress, at(progress)).stage == "flows"

    def test_the_polish_waits_for_the_dual_point(self):
        chosen = strategy(1e-3, flows=False, can_reduce=True)
        assert not chosen.reduces(self.late(*NEIGHBOURS[:-1]), math.inf)
        assert chosen.reduces(self.late(*ROADS), math.inf)
        assert not replace(chosen, tolerance=1e-6).reduces(self.late(*ROADS), math.inf)

    def test_looks_come_when_the_dual_point_is_expected_to_be_good(self):
        chosen = strategy(1e-3, flows=False, can_reduce=True)
        progress = self.late(*ROADS[:-1])
        assert 45 <= chosen.next_look(progress) <= 60

    def test_a_polish_that_was_not_enough_is_repeated_later(self):
        chosen, progress = strategy(1e-3, flows=False, can_reduce=True), self.late(*ROADS)
        progress.reduction = PolishAttempt(70, True, 0.1)
        assert not chosen.reduces(progress, math.inf)
        progress.reduction = PolishAttempt(60, True, 0.1)
        assert chosen.reduces(progress, math.inf)
        assert not chosen.reduces(progress, 0.05)  # no time for it

    def test_on_grids_it_costs_more_than_it_saves(self):
        assert COSTS["grid"].reduction == COSTS["volume"].reduction == 0

    @pytest.mark.parametrize(
        ("facts", "can"),
        [
            (SQUARED, True),
            (HUBER_TV, False),
            (BOX, False),
            (replace(SQUARED, is_complete=False), False),
        ],
    )
    def test_it_needs_total_variation_and_data_everywhere(self, facts, can):
        assert plan(facts, TUNING).can_reduce is can


class TestCertificates:
    def test_what_may_be_the_answer_is_certified(self):
        record = history("edges", (20, 1e-7)).looks[-1].record
        assert strategy(1e-6).certifies(record, math.inf)
        assert not strategy(1e-8).certifies(record, math.inf)

    def test_exact_answers_come_from_flows_or_a_polish(self):
        record = history("edges", (20, 0.0)).looks[-1].record
        assert not strategy(EXACT_GAP).certifies(record, math.inf)
        assert strategy(EXACT_GAP, flows=False).certifies(record, math.inf)

    def test_long_runs_keep_points_that_halve_the_gap(self):
        early, late = (history("pdhg", (k, 1e-3)).looks[-1].record for k in (499, 500))
        assert not strategy().certifies(early, math.inf)
        assert strategy().certifies(late, 2.1e-3)
        assert not strategy().certifies(late, 1.9e-3)


class TestTermination:
    def test_the_order(self):
        run = {"tolerance": 1e-6, "iteration": 5, "max_iterations": 5, "last_progress": 0}
        ends = {"is_final": True, "is_interrupted": True, "is_late": True}
        assert ending(relative_gap=1e-6, patience=1, **run, **ends) == "optimal"
        for name, status in zip(ends, ("stalled", "interrupted", "time_limit"), strict=True):
            assert ending(relative_gap=1.0, patience=1, **run, **ends) == status
            ends[name] = False
        assert ending(relative_gap=1.0, patience=1, **run, **ends) == "iteration_limit"
        run["max_iterations"] = 6
        assert ending(relative_gap=1.0, patience=4, **run, **ends) == "stalled"
        assert ending(relative_gap=1.0, patience=5, **run, **ends) is None

    def test_small_falls_add_up_to_progress(self):
        last = LastProgress().after(1, 1.0, 0.9).after(2, 0.95, 0.9)
        assert last == (1.0, 1)
        assert last.after(3, 0.89, 0.9) == (0.89, 3)


def test_forecasts_follow_a_power_law():
    assert iterations_ahead([], 1e-6) is None
    assert iterations_ahead([(10, 1e-7)], 1e-6) == 0.0
    assert iterations_ahead([(10, 1e-3)], 1e-6) is None
    assert iterations_ahead([(10, 1e-3), (20, 1e-3)], 1e-6) == math.inf
    assert iterations_ahead(falling(2.0, 10, 20), 1.0 / 1600.0) == pytest.approx(20)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("iterations", [(10, 20, 40), (10, 15, 40), (7, 30, 50), (1, 5, 10, 80)])
def test_forecasts_of_the_dual_objective_follow_a_power_law(power, iterations):
    past = [(k, 3.0 - k**-power) for k in iterations]
    found = forecast_dual(past)
    assert found.power == pytest.approx(power, rel=1e-6)
    assert found.error == pytest.approx(iterations[-1] ** -power, rel=1e-5)
    ahead = found.iterations_ahead(iterations[-1], found.error / 4**power)
    assert ahead <= 3.01 * iterations[-1]


def test_forecasts_need_three_distinct_objectives():
    assert forecast_dual([]) is None
    assert forecast_dual([(8, 0.5), (9, 0.6), (10, 0.7)]) is None
    assert forecast_dual([(10, 0.5), (20, 0.6), (40, 0.6)]) is None

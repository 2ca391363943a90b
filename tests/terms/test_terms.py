"""Data terms and penalties against references in forty digits, and against their properties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredLoss,
    TotalVariation,
    _core,
)
from reference import terms as twins
from term_values import magnitudes, numbers, prox

LOSSES = ["squared", "absolute", "quantile", "huber", "logistic", "poisson", "box"]
SMOOTH = ["squared", "huber", "logistic", "poisson"]

weights = st.one_of(st.just(0.0), st.just(1.0), st.floats(-3, 3).map(lambda x: 10.0**x))


def make(kind, f, c, *, shape=None):
    """A term of the library and that of the core, restricted as in a problem, from any numbers."""
    f, c = np.asarray(f, dtype=float), np.asarray(c, dtype=float)
    if kind == "squared":
        term = SquaredLoss(f, c)
    elif kind == "absolute":
        term = AbsoluteLoss(f, c)
    elif kind == "quantile":
        term = QuantileLoss(f, 0.3, c)
    elif kind == "huber":
        term = HuberLoss(f, 0.7, c)
    elif kind == "poisson":
        term = PoissonLoss(np.abs(f), c)
    elif kind == "box":
        term = LinearBox(f, -1.0 - c, 2.0 * c)
    else:
        term = LogisticLoss(np.sign(f), c)
        return term, term._restricted(-30.0, 20.0)
    return term, term._core_term


def losses(term, core):
    return twins.losses_of(term, core.domain)[0]


@st.composite
def entries(draw, max_size=5):
    n = draw(st.integers(1, max_size))
    columns = [st.lists(part, min_size=n, max_size=n) for part in (numbers, weights, numbers)]
    f, c, v = (np.array(draw(column)) for column in columns)
    steps = np.array(draw(st.lists(magnitudes, min_size=n, max_size=n)))
    return f, c, v, steps


@pytest.mark.parametrize("kind", LOSSES)
@settings(max_examples=25)
@given(case=entries())
@example(case=tuple(np.array([x]) for x in (3.0, 1.0, -1e6, 1e6)))
def test_prox_agrees_with_bisection(kind, case):
    f, c, v, steps = case
    term, core = make(kind, f, c)
    u = prox(core, v, steps)
    for i, loss in enumerate(losses(term, core)):
        expected = twins.prox(loss, float(v[i]), float(steps[i]))
        # Rounding of the arguments changes the result by this much.
        scale = abs(v[i]) + min(abs(f[i]), steps[i] * abs(f[i])) + abs(expected)
        assert abs(u[i] - expected) <= 1e-14 * scale + 1e-12 * abs(expected) + 1e-38, (i, u[i])


@pytest.mark.parametrize("kind", ["squared", "absolute", "huber"])
@settings(max_examples=50)
@given(case=entries())
def test_prox_of_the_signal_is_the_signal_to_the_bit(kind, case):
    """Where the minimum is 0, any error in the last bit violates a relative gap."""
    f, c, _, steps = case
    _, core = make(kind, f, np.maximum(c, 1e-3))
    np.testing.assert_array_equal(prox(core, f, steps), f)
    np.testing.assert_array_equal(prox(core, np.zeros_like(f), np.array([1e300])), f)


@pytest.mark.parametrize("kind", LOSSES)
@settings(max_examples=25)
@given(case=entries())
def test_conjugate_agrees_with_bisection(kind, case):
    f, c, s, _ = case
    term, core = make(kind, f, c)
    pairs = zip(losses(term, core), s.tolist(), strict=True)
    expected = [float(twins.conjugate(loss, x)) for loss, x in pairs]
    reach = np.maximum(np.abs(f), np.abs(core.domain).max())
    scale = np.abs(expected).sum() + np.abs(s) @ reach + c @ reach
    assert abs(core.conjugate(s) - sum(expected)) <= 1e-13 * scale + 1e-40


@pytest.mark.parametrize("kind", LOSSES)
@settings(max_examples=25)
@given(case=entries(), other=numbers)
def test_fenchel_and_moreau(kind, case, other):
    """Equality at u = prox(v), s = (v - u)/τ, and s ↦ G*(s) has the subgradient u there."""
    f, c, v, steps = case
    _, core = make(kind, f, c)
    u = prox(core, v, steps)
    s = (v - u) / steps
    scale = abs(core.value(u)) + abs(core.conjugate(s)) + np.abs(u) @ np.abs(s)
    scale += np.abs(v / steps) @ np.abs(u) + np.sum(c * np.abs(f)) + 1e-290
    assert abs(core.value(u) + core.conjugate(s) - u @ s) <= 1e-11 * scale
    elsewhere = s + other
    bound = core.conjugate(s) + other * u.sum()
    scale += abs(bound) + abs(other) * np.abs(u).sum() + abs(core.conjugate(elsewhere))
    assert core.conjugate(elsewhere) >= bound - 1e-11 * scale


@pytest.mark.parametrize("kind", LOSSES)
@settings(max_examples=25)
@given(case=entries(), slope=numbers)
@example(
    case=tuple(np.array(x) for x in ([5.0, 0.0], [0.01, 10.0], [0.0, 0.0], [1.0, 1.0])), slope=0.0
)
def test_minimizer_of_a_component(kind, case, slope):
    f, c, _, _ = case
    term, core = make(kind, f, c)
    if kind == "box" and max(-1.0 - c) > min(2.0 * c):
        return
    component = np.arange(len(f), dtype=np.int32)
    m = core.minimizer(component, 0, slope)

    def objective(x):
        return core.value(np.full(len(f), x)) + slope * x

    expected = twins.minimizer(
        [loss for loss, weight in zip(losses(term, core), c, strict=True) if weight > 0]
        if kind == "squared" and c.any()  # one vertex with data frees a component from the domain
        else losses(term, core),
        slope,
    )
    scale = 1e-12 * (abs(objective(expected)) + np.sum(c * np.abs(f)) + abs(slope * expected))
    assert objective(m) <= objective(expected) + scale + 1e-290
    curvature = sum(c) if kind == "squared" else 0
    if curvature:
        noise = (np.sum(c * np.abs(f)) + abs(slope)) / curvature
        assert abs(m - expected) <= 1e-13 * noise + 1e-40


@settings(max_examples=200)
@given(
    data=st.lists(st.tuples(numbers, weights.filter(bool)), min_size=1, max_size=6), slope=numbers
)
@example(data=[(5.0, 0.01), (0.0, 10.0)], slope=0.0)
@example(data=[(1e12, 1e-3), (1e-12, 1e3), (-1e12, 1e-3)], slope=0.0)
def test_weighted_mean_is_accurate_to_a_few_roundings(data, slope):
    """The error is a few rounding errors of the mean and of the mean distance to it."""
    f, c = (np.array(column) for column in zip(*data, strict=True))
    m = SquaredLoss(f, c)._core_term.minimizer(np.arange(len(f), dtype=np.int32), 0, slope)
    exact_f, exact_c = (list(map(Fraction, column)) for column in (f, c))
    mass = sum(exact_c)
    mean = (sum(x * y for x, y in zip(exact_f, exact_c, strict=True)) - Fraction(slope)) / mass
    distance = sum(y * abs(x - mean) for x, y in zip(exact_f, exact_c, strict=True)) / mass
    rounding = Fraction(np.finfo(float).eps)
    assert abs(Fraction(m) - mean) <= 4 * rounding * (abs(mean) + distance)


@pytest.mark.parametrize("kind", SMOOTH)
def test_derivative_is_that_of_the_value(kind):
    rng = np.random.default_rng(0)
    term, core = make(kind, rng.normal(size=50), rng.random(50))
    for i, loss in enumerate(losses(term, core)):
        for u in (0.3, 1.7):
            assert core.derivative(i, u) == pytest.approx(
                float(loss.slope(twins.Decimal(u))), rel=1e-13, abs=1e-15
            )


@pytest.mark.parametrize("kind", LOSSES)
def test_channels_are_independent(kind):
    rng = np.random.default_rng(1)
    f, c, v = rng.normal(size=(3, 40, 3))
    steps = rng.random(40) + 0.1
    term, _ = make(kind, f, np.abs(c))
    columns = [make(kind, f[:, k], np.abs(c[:, k]))[0] for k in range(3)]
    u = term.prox(v, steps)
    assert u.shape == (40, 3)
    if kind != "logistic":  # the others' domain is common to all channels
        domains = np.array([column._core_term.domain for column in columns])
        v = np.clip(v, domains[:, 0].max(), domains[:, 1].min())
        u = term.prox(v, steps)
    for k, column in enumerate(columns):
        np.testing.assert_array_equal(u[:, k], column.prox(v[:, k], steps))
    assert term.value(u) == pytest.approx(
        sum(column.value(u[:, k]) for k, column in enumerate(columns)), rel=1e-15
    )
    shared, _ = make(kind, f, np.abs(c[:, 0]))
    spread, _ = make(kind, f, np.repeat(np.abs(c[:, :1]), 3, axis=1))
    np.testing.assert_array_equal(shared.prox(v, steps), spread.prox(v, steps))


@pytest.mark.parametrize("kind", ["squared", "absolute", "huber", "logistic", "poisson"])
def test_where_there_is_no_data_the_signal_does_not_matter(kind):
    rng = np.random.default_rng(2)
    f, v = rng.normal(size=(2, 30))
    c = (rng.random(30) > 0.5).astype(float)
    other = np.where(c > 0, f, 1e6 * rng.normal(size=30))
    one, two = make(kind, f, c)[1], make(kind, other, c)[1]
    steps = np.array([0.7])
    np.testing.assert_array_equal(prox(one, v, steps), prox(two, v, steps))
    assert one.value(v**2) == two.value(v**2)
    assert one.conjugate(v) == two.conjugate(v)
    nothing = make(kind, f, np.zeros(30))[1]
    if kind != "logistic":
        assert nothing.domain == (0.0, 0.0)
        assert nothing.conjugate(v) == 0.0
    assert nothing.minimizer(np.arange(30, dtype=np.int32), 0, 0.0) == 0.0


@pytest.mark.parametrize("kind", [*LOSSES, "simplex"])
def test_same_bits_for_any_number_of_threads(kind):
    rng = np.random.default_rng(3)
    n = 30_000
    if kind == "simplex":
        core = _core.EntropicSimplexTerm(n // 3, 3, rng.normal(size=n), 0.5)
    else:
        core = make(kind, rng.normal(size=n), rng.random(n))[1]
    v, steps = rng.normal(size=n), rng.random(core.n_vertices) + 0.1
    u = prox(core, v, steps)
    for n_threads in (2, 4, 8):
        np.testing.assert_array_equal(prox(core, v, steps, n_threads), u)
        assert core.value(u, n_threads) == core.value(u)
        assert core.conjugate(v, n_threads) == core.conjugate(v)
    inplace = v.copy()
    core.prox(inplace, steps, inplace, 2)
    np.testing.assert_array_equal(inplace, u)


def test_sums_keep_what_rounding_loses():
    tiny, huge = 2.0**-40, 2.0**30
    core = LinearBox([huge] + [tiny] * 1000 + [-huge], 0.0, 1.0)._core_term
    assert core.value(np.ones(1002)) == 1000 * tiny


def test_strong_convexity():
    assert SquaredLoss([1.0, 2.0], [0.5, 3.0]).strong_convexity == 0.5
    assert SquaredLoss([1.0, 2.0], [0.0, 3.0]).strong_convexity == 0.0
    assert AbsoluteLoss([1.0, 2.0]).strong_convexity == 0.0
    assert HuberLoss([1.0, 2.0]).strong_convexity == 0.0
    assert PoissonLoss([1.0, 2.0], 3.0).strong_convexity == 3.0 / 4.0
    assert PoissonLoss([0.0, 2.0]).strong_convexity == 0.0
    assert EntropicSimplex([[0.0, 1.0]], 0.25).strong_convexity == 0.25
    logistic = LogisticLoss([1.0, -1.0], 2.0)._restricted(-1.0, 0.5)
    assert logistic.strong_convexity == pytest.approx(2 * np.e / (1 + np.e) ** 2)


def test_terms_do_not_change():
    signal = np.zeros(3)
    term = SquaredLoss(signal)
    signal[:] = 5.0
    assert term.value([0.0, 0.0, 0.0]) == 0.0
    with pytest.raises(ValueError, match="read-only"):
        term.signal[0] = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        term.signal = signal
    with pytest.raises(AttributeError):
        HuberTV(1.0).delta = 2.0


def test_representations_are_short():
    assert repr(SquaredLoss(np.zeros((4, 2)))) == "SquaredLoss(shape (4, 2), weights=1)"
    assert repr(HuberLoss(np.zeros(4), 0.5, np.ones(4))) == (
        "HuberLoss(shape (4,), weights=shape (4,), delta=0.5)"
    )
    assert repr(LinearBox(np.zeros(4))) == "LinearBox(shape (4,), lower=0, upper=1)"
    assert repr(EntropicSimplex(np.zeros((4, 2)))) == "EntropicSimplex(shape (4, 2), epsilon=1)"
    assert repr(TotalVariation()) == "TotalVariation()"
    assert repr(HuberTV(0.1)) == "HuberTV(delta=0.1)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SquaredLoss([1.0, np.inf]), r"signal .*inf at index 1; NaN marks missing data"),
        (lambda: AbsoluteLoss([np.inf]), r"signal .*inf"),
        (lambda: SquaredLoss(1.0), r"signal must have shape"),
        (lambda: SquaredLoss(np.zeros((2, 3, 0))), r"signal must have shape"),
        (lambda: SquaredLoss(np.zeros((2, 0))), r"signal must have shape"),
        (lambda: SquaredLoss(["a"]), r"signal must hold real numbers"),
        (lambda: SquaredLoss([1.0, 2.0], [1.0, -1.0]), r"weights .*-1.0 at index 1"),
        (lambda: SquaredLoss([1.0, 2.0], [1.0, 1.0, 1.0]), r"weights .*\(2,\).*\(3,\)"),
        (lambda: SquaredLoss(np.zeros((2, 3)), np.zeros((3, 2))), r"weights .*\(2,\) or \(2, 3\)"),
        (lambda: HuberLoss([1.0], 0.0), r"delta must be above 0"),
        (lambda: LogisticLoss([1.0, 0.5]), r"labels .*0.5 at index 1"),
        (lambda: LogisticLoss([1.0, -np.inf]), r"labels .*inf at index 1"),
        (lambda: PoissonLoss([1.0, -2.0]), r"counts .*-2.0 at index 1"),
        (lambda: LinearBox([1.0, 1.0], [0.0, 2.0], 1.0), r"lower .*2.0 > 1.0 at index 1"),
        (lambda: LinearBox([1.0, 1.0], [0.0, 2.0, 3.0]), r"lower .*shape \(3,\)"),
        (lambda: EntropicSimplex([1.0, 1.0]), r"cost must have shape \(n, C\)"),
        (lambda: EntropicSimplex([[1.0, 1.0]], 0.0), r"epsilon must be above 0"),
        (lambda: HuberTV(0.0), r"delta must be above 0"),
        (lambda: HuberTV("a"), r"delta must hold real numbers"),
        (lambda: SquaredLoss([1.0]).value([1.0, 2.0]), r"u must have shape \(1,\)"),
        (lambda: SquaredLoss([1.0]).prox([1.0], 0.0), r"step must be above 0"),
        (lambda: SquaredLoss([1.0, 1.0]).prox([1.0, 1.0], [1.0] * 3), r"step .*shape \(3,\)"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()

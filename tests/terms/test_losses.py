"""The methods of losses: derivative, weights, sparsity, deviance, kinds of data."""

import numpy as np
import pytest

from graphtv import AbsoluteLoss, HuberLoss, LogisticLoss, PoissonLoss, QuantileLoss, SquaredLoss

N = 7


def make(kind, weights, channels=()):
    rng = np.random.default_rng(0)
    f = rng.normal(size=(N, *channels))
    return {
        "squared": lambda: SquaredLoss(f, weights),
        "absolute": lambda: AbsoluteLoss(f, weights),
        "quantile": lambda: QuantileLoss(f, 0.8, weights),
        "huber": lambda: HuberLoss(f, 0.4, weights),
        "logistic": lambda: LogisticLoss(np.sign(f), weights),
        "poisson": lambda: PoissonLoss(np.round(np.exp(f)), weights),
    }[kind]()


KINDS = ("squared", "absolute", "quantile", "huber", "logistic", "poisson")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [(), (2,)])
def test_the_derivative_is_that_of_the_value(kind, channels):
    rng = np.random.default_rng(1)
    loss = make(kind, rng.uniform(0.5, 2.0, N), channels)
    u = rng.uniform(0.3, 2.0, loss.shape)
    slope, h = loss.derivative(u), 1e-6
    for index in np.ndindex(u.shape):
        step = np.zeros(u.shape)
        step[index] = h
        quotient = (loss.value(u + step) - loss.value(u - step)) / (2 * h)
        assert slope[index] == pytest.approx(quotient, abs=1e-7)


def test_at_a_kink_the_derivative_is_the_subgradient_nearest_to_zero():
    assert AbsoluteLoss([1.0], 3.0).derivative([1.0]) == 0.0
    np.testing.assert_array_equal(PoissonLoss([0.0, 0.0], 3.0).derivative([0.0, 1.0]), [0.0, 3.0])
    np.testing.assert_array_equal(
        LogisticLoss([1.0, -1.0]).derivative([1e4, 1e4]), [0.0, 1.0]
    )  # no overflow
    with pytest.raises(ValueError, match=r"^u must have shape \(1,\)"):
        SquaredLoss([1.0]).derivative([1.0, 2.0])


@pytest.mark.parametrize("kind", KINDS)
def test_other_weights(kind):
    rng = np.random.default_rng(2)
    loss, weights = make(kind, 1.0), rng.uniform(0.5, 2.0, N)
    other, u = loss.with_weights(weights), rng.uniform(0.3, 2.0, N)
    assert type(other) is type(loss)
    np.testing.assert_array_equal(other.weights, weights)
    np.testing.assert_array_equal(other.data, loss.data)
    assert other.value(u) == pytest.approx(make(kind, weights).value(u), rel=1e-15)


def test_sparsity_is_part_of_a_poisson_loss():
    rng = np.random.default_rng(3)
    loss, sparsity = make("poisson", rng.uniform(0.5, 2.0, N)), rng.uniform(0.0, 1.0, N)
    u, v = rng.uniform(0.3, 2.0, (2, N))
    whole = loss.with_sparsity(sparsity)
    difference = loss.value(u) - loss.value(v) + np.sum(sparsity * (u - v))
    assert whole.value(u) - whole.value(v) == pytest.approx(difference)
    for kind in ("squared", "absolute", "huber", "logistic"):
        assert make(kind, 1.0).with_sparsity(sparsity) is None


def test_deviance():
    """Twice the log of the likelihood ratio, from scipy's distributions."""
    stats = pytest.importorskip("scipy.stats")
    f, u = np.array([0.3, 2.0, 5.0]), np.array([0.5, 1.5, 4.0])

    def twice_the_ratio(log_density):
        return 2 * np.sum(log_density(f) - log_density(u))

    variance = 0.7
    normal = twice_the_ratio(lambda mean: stats.norm.logpdf(f, mean, np.sqrt(variance)))
    assert SquaredLoss(f).deviance(u, variance) == pytest.approx(normal)
    scale = np.sqrt(variance / 2)
    laplace = twice_the_ratio(lambda mean: stats.laplace.logpdf(f, mean, scale))
    assert AbsoluteLoss(f).deviance(u, variance) == pytest.approx(laplace)
    f = np.array([1.0, 2.0, 5.0])
    poisson = twice_the_ratio(lambda mean: stats.poisson.logpmf(f, mean))
    assert PoissonLoss(f).deviance(u, variance) == pytest.approx(poisson)
    assert SquaredLoss(f).deviance(f, 0.0) == 0.0
    assert SquaredLoss(f).deviance(u, 0.0) == np.inf


def test_where_there_is_data():
    loss = SquaredLoss([1.0, np.nan, 2.0], [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(loss.observed, [True, False, False])
    (only,) = loss.kinds_of_data
    np.testing.assert_array_equal(only, loss.observed)
    labels = LogisticLoss([1.0, 0.0, -1.0, 1.0], [1.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(labels.observed, [True, False, True, False])
    positive, negative = labels.kinds_of_data
    np.testing.assert_array_equal(positive, [True, False, False, False])
    np.testing.assert_array_equal(negative, [False, False, True, False])

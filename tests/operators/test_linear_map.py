"""Linear maps: matrices and objects with products, checked and counted."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from graphtv.operators.linear_map import LinearMap

MATRIX = np.random.default_rng(0).standard_normal((7, 5))


class Duck:
    """An object with products, as PyLops has them."""

    shape = (7, 5)

    def matvec(self, x):
        return MATRIX @ x

    def rmatvec(self, y):
        return MATRIX.T @ y


@pytest.mark.parametrize(
    "operator", [MATRIX, scipy.sparse.csr_array(MATRIX), aslinearoperator(MATRIX), Duck()]
)
@pytest.mark.parametrize("n_channels", [1, 3])
def test_products(operator, n_channels):
    rng = np.random.default_rng(1)
    x, q = rng.standard_normal((n_channels, 5)), rng.standard_normal((n_channels, 7))
    made = LinearMap(operator)
    before = made.calls
    np.testing.assert_allclose(made.apply(x.ravel()), (x @ MATRIX.T).ravel())
    np.testing.assert_allclose(made.adjoint(q.ravel()), (q @ MATRIX).ravel())
    assert made.calls == before + 2 * n_channels
    assert made.gain <= np.linalg.norm(MATRIX, 2) * (1 + 1e-12)


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_array])
def test_errors_of_matrices_are_bounds(kind):
    rng = np.random.default_rng(2)
    x, q = rng.standard_normal(5), rng.standard_normal(7)
    made = LinearMap(kind(MATRIX))
    check_errors(MATRIX, x, made.apply(x), made.apply_error(x))
    check_errors(MATRIX.T, q, made.adjoint(q), made.adjoint_error(q))


def check_errors(matrix, x, product, errors):
    for row, found, error in zip(matrix, product, errors, strict=True):
        exact = sum(map(_product, row, x), start=Fraction(0))
        assert abs(exact - Fraction(float(found))) <= Fraction(float(error))


def _product(a, b):
    return Fraction(float(a)) * Fraction(float(b))


def test_products_may_be_views():
    def spread(y):
        out = np.zeros(6)
        out[::2] = y
        return out

    made = LinearMap(LinearOperator((3, 6), matvec=lambda x: x[::2], rmatvec=spread))
    np.testing.assert_array_equal(made.apply(np.arange(6.0)), [0.0, 2.0, 4.0])


def test_the_bound_of_the_norm():
    for operator in (MATRIX, scipy.sparse.csr_array(MATRIX), aslinearoperator(MATRIX)):
        assert LinearMap(operator).norm_bound() >= np.linalg.norm(MATRIX, 2)


def test_wrong_adjoint():
    class Wrong(Duck):
        def rmatvec(self, y):
            return 1.01 * (MATRIX.T @ y)

    with pytest.raises(ValueError, match="rmatvec must be the adjoint"):
        LinearMap(Wrong())


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (np.zeros(3), "real matrix"),
        ("A", "real matrix"),
        (np.full((2, 2), np.nan), "finite"),
        (np.ones((2, 2), dtype=complex), "real"),
        (scipy.sparse.csr_array(np.ones((2, 2), dtype=complex)), "real"),
        (LinearOperator((2, 2), matvec=lambda x: x, rmatvec=lambda x: x, dtype=complex), "real"),
        (LinearOperator((2, 2), matvec=lambda x: x * np.nan, rmatvec=lambda x: x), "matvec.*nan"),
    ],
)
def test_wrong_operators(operator, message):
    with pytest.raises(ValueError, match=message):
        LinearMap(operator)


def test_wrong_sizes_and_errors_of_products():
    class Long(Duck):
        def matvec(self, x):
            return np.zeros(9)

    class Broken(Duck):
        def matvec(self, x):
            raise RuntimeError("no detector")

    with pytest.raises(ValueError, match=r"matvec must return 7 real numbers, got shape \(9,\)"):
        LinearMap(Long())
    with pytest.raises(RuntimeError, match="no detector"):
        LinearMap(Broken())


def test_a_sparse_matrix_of_the_user_does_not_change():
    """Entries that occur twice are added in a copy."""
    entries, columns = np.array([1e16, 1.0, -1e16, 1.0]), np.array([0, 0, 1, 1])
    given = scipy.sparse.csr_matrix((entries, columns, [0, 4]), shape=(1, 2))
    made = LinearMap(given)
    assert given.nnz == 4
    assert given.data.tolist() == [1e16, 1.0, -1e16, 1.0]
    assert made.sizes.nnz == 2
    given.data[:] = 0.0
    assert made.apply(np.array([1.0, 0.0])).tolist() == [1e16]


@pytest.mark.parametrize("to_format", [np.asarray, scipy.sparse.csr_array])
def test_column_squares(to_format):
    rng = np.random.default_rng(0)
    A, weights = rng.normal(size=(5, 3)), rng.uniform(size=5)
    squares = LinearMap(to_format(A)).column_squares(weights)
    np.testing.assert_allclose(squares, [weights @ column**2 for column in A.T])


def test_column_squares_of_products_are_not_known():
    A = aslinearoperator(np.eye(3))
    assert LinearMap(A).column_squares(np.ones(3)) is None

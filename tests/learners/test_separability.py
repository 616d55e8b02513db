"""Whether a sample is linearly separable, where a linear program alone is not to be relied on."""

import numpy as np
import pytest

from separatrix.learners.svm import linearly_separable


def sample(points, d, seed=0):
    x = np.random.default_rng(seed).normal(size=(points, d))
    return x, np.where(np.random.default_rng(seed + 1).random(points) < 0.4, 1.0, -1.0)


def test_points_in_general_position_are_separable_however_many_the_dimensions():
    x, y = sample(60, 3000)
    assert linearly_separable(np.abs(x) * 1e-3, y)


def test_more_points_than_dimensions():
    x, y = sample(200, 6)
    assert not linearly_separable(x, y)
    rule = np.where(x @ np.arange(1.0, 7.0) > 0.4, 1.0, -1.0)
    assert linearly_separable(x, rule)


def test_a_separable_sample_that_least_squares_does_not_separate():
    x = np.array([[-1.0], [1.0], [2.0], [300.0]])
    y = np.array([-1.0, 1.0, 1.0, 1.0])
    assert linearly_separable(x, y)
    assert not linearly_separable(x, np.array([1.0, -1.0, 1.0, 1.0]))


def test_one_point_with_both_labels():
    x = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 5.0]])
    assert not linearly_separable(x, np.array([1.0, -1.0, 1.0]))


def test_a_program_that_fails_is_an_error(monkeypatch):
    class Failed:
        status, message = 4, "not set"

    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **kwargs: Failed)
    x, y = sample(200, 6)
    with pytest.raises(ArithmeticError, match="failed: not set"):
        linearly_separable(x, y)

"""The hard-margin SVM against exact solutions and where separability ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.learners import svm
from separatrix.learners.svm import LinearSVM, certified_margin, linearly_separable


def test_two_points():
    """The separator of two points is their bisector: margin half their distance."""
    fitted = LinearSVM().fit(np.array([[1.0, 2.0], [4.0, 6.0]]), np.array([1.0, -1.0]), 0)
    assert fitted.facts["margin"] == pytest.approx(2.5, rel=1e-4)
    np.testing.assert_allclose(fitted.predict(np.array([[2.5, 4.0], [1.0, 2.0]])), [0, 1], atol=1e-3)


def test_an_offset_is_free():
    """Points far from the origin, one dimension: w = 2 / gap, b such that the middle is 0."""
    x = np.array([[100.0], [100.5], [101.0], [103.0]])
    fitted = LinearSVM().fit(x, np.array([-1.0, -1.0, 1.0, 1.0]), 0)
    assert fitted.facts["margin"] == pytest.approx(0.25, rel=1e-4)
    assert fitted.predict(np.array([[100.75]]))[0] == pytest.approx(0, abs=1e-2)


def test_proposition_6_1_on_the_whole_support():
    """On every input of the distribution the least norm is sqrt(2n): the margin is 1 / sqrt(2n)."""
    task = sx.tasks.PatternDetection(d=4, n=3, patterns="standard")
    points = task.population(task.instance(sx.tasks.stream(0, "instance"), ()))
    fitted = LinearSVM().fit(np.asarray(points.x), np.asarray(points.y), 0)
    assert fitted.facts["margin"] == pytest.approx(1 / np.sqrt(6), rel=1e-4)


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 5))
def test_both_solvers_agree(seed, count, dimension):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(count, dimension))
    y = np.where(x @ generator.normal(size=dimension) > generator.normal() / 2, 1.0, -1.0)
    if len(set(y)) == 2:
        found = [certified_margin(x, y, s) for s in (svm._least_distance(x, y), svm._libsvm(x, y, 1e10, 10**6))]
        assert found[0][1] < 1e-3
        if found[1][1] < 1e-3:
            assert found[0][0] == pytest.approx(found[1][0], rel=2e-3)


def test_where_separability_just_ends():
    """A sample that libsvm does not finish on in two million steps."""
    x, y = sx.tasks.PatternDetection(noise="sphere").draw(2, 640)
    fitted = LinearSVM().fit(x, y, 0)
    assert fitted.problem is None
    assert fitted.facts["separable"]
    assert ((fitted.predict(x) > 0) == (y > 0)).all()


def test_a_sample_that_cannot_be_separated():
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    fitted = LinearSVM().fit(x, np.array([1.0, -1.0, -1.0, 1.0]), 0)
    assert fitted.facts == {"separable": False}
    assert not linearly_separable(x, np.array([1.0, -1.0, -1.0, 1.0]))


def test_giving_up_is_not_a_result():
    x, y = sx.tasks.PatternDetection(noise="ball").draw(0, 1000)
    assert "max_iterations" in str(LinearSVM(max_iterations=2).fit(x, y, 0).problem)

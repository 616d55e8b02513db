"""D_A: the sampler, the listed population and the law of the sums say the same."""

from collections import Counter
from fractions import Fraction
from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix import tasks as T
from separatrix.errors import InputError
from separatrix.learners import kernels
from separatrix.studies.intervals import proportion
from separatrix.training import train


def by_hand(n, A, mixture):
    """P(x) over {+-1}^n from the definition, in fractions, with the label."""
    law = {}
    for x in product((1, -1), repeat=n):
        on = [x[i - 1] for i in A]
        p = (1 - mixture) * Fraction(1, 2**n)
        if abs(sum(on)) == len(A):
            p += mixture * Fraction(1, 2) * Fraction(1, 2 ** (n - len(A)))
        law[x] = p, int(np.prod(on))
    return law


@pytest.mark.parametrize(("n", "A", "mixture"), [(5, (1, 2, 4), Fraction(1, 2)), (6, (2,), Fraction(1, 4))])
def test_population_and_sums_follow_from_the_definition(n, A, mixture):
    task = T.SparseParity(n=n, k=len(A), mixture=float(mixture), A=A)
    law = by_hand(n, A, mixture)
    points = task.population(task.instance(T.stream(0, "instance"), ()))
    bits = np.rint(np.asarray(points.x) * np.sqrt(n)).astype(int)
    np.testing.assert_allclose(np.asarray(points.x), bits / np.sqrt(n), rtol=1e-6)
    for x, y, p in zip(bits.tolist(), np.asarray(points.y), np.asarray(points.p), strict=True):
        stated, label = law[tuple(x)]
        assert (float(p), y) == (pytest.approx(float(stated), rel=1e-6), label)
    expected = Counter()
    for x, (p, y) in law.items():
        on = sum(x[i - 1] for i in A)
        expected[on, sum(x) - on, y] += p
    assert {(s.on, s.off, s.y): s.p for s in task.sums()} == expected


def test_the_components_make_the_mixture():
    task = T.SparseParity(n=9, k=5, mixture=0.25)
    mixed, uniform, aligned = (part.sums() for part in (task, *task.parts().values()))
    assert sum(s.p for s in uniform) == sum(s.p for s in aligned) == 1
    for m, u, a in zip(mixed, uniform, aligned, strict=True):
        assert m.p == Fraction(3, 4) * u.p + Fraction(1, 4) * a.p
    assert {s.on for s in aligned if s.p} == {-5, 5}


@pytest.mark.parametrize(("name", "share"), [("mixture", 0.5 + 0.5 / 4), ("uniform", 0.25), ("aligned", 1.0)])
def test_the_parts_are_drawn_with_the_same_instance(name, share):
    mixture = T.SparseParity(n=40, k=3, A=(3, 30, 40), scale="bits")
    x, y = ({"mixture": mixture} | mixture.parts())[name].draw(2, 4000, "test")
    on = x[:, [2, 29, 39]]
    np.testing.assert_array_equal(y, on.prod(axis=1))
    assert abs(np.mean(np.abs(on.sum(axis=1)) == 3) - share) <= 6 * np.sqrt(share * (1 - share) / 4000)


def test_the_errors_of_the_parts_make_the_error_of_the_mixture():
    """Exactly, where errors are exact; and for networks and solvers alike."""
    task = T.SparseParity(n=6, k=3, mixture=0.3, scale="bits")
    for learner in (sx.learners.as_learner(sx.learners.MLP((8,))), kernels.KernelRidge(kernels.Linear(1.0))):
        for seed in (0, 1):
            (record,) = train([sx.Cell(task, learner, 60, seed, sx.Procedure(max_steps=2000))])
            parts = [record[f"test_error.{name}"] for name in ("uniform", "aligned")]
            assert record["test_error"] == pytest.approx(0.7 * parts[0] + 0.3 * parts[1], abs=1e-6)
            assert parts[1] < parts[0]


def test_ridge_regression_on_the_bits_alone_finds_their_majority():
    """Trained and judged on the population itself; for k = 5 the majority is the best linear classifier."""
    task = T.SparseParity(n=6, k=5, scale="bits")
    (record,) = train([sx.Cell(task, kernels.KernelRidge(kernels.Linear(1.0)), None)])
    assert record["status"] == "ok", record["message"]
    assert record["test_error"] == record["train_error"] == pytest.approx(5 / 32)
    assert record["test_error.uniform"] == pytest.approx(5 / 16)


def test_errors_on_parts_are_proportions_with_their_intervals(tmp_path):
    study = sx.Study(
        task=T.SparseParity(n=6, k=3, scale="bits"),
        learners={"linear": kernels.KernelRidge(kernels.Linear(1.0))},
        train_size=40,
        seeds=2,
        procedure=sx.Procedure(evaluation="sample", test_size=200),
    )
    (point,) = study.run(tmp_path, workers=0).curve(y="test_error.uniform").of("linear")
    assert all(round(value * 200) / 200 == value for value in point.values)
    low, high = proportion(round(400 * point.summary.mean), 400)
    assert point.summary.low <= low < point.summary.mean < high <= point.summary.high


def test_the_seed_draws_A_where_it_is_not_given():
    task = T.SparseParity(n=20, k=7)
    drawn = [tuple(np.asarray(task.instance(T.stream(seed, "instance"), ()))) for seed in range(5)]
    assert all(len(set(A)) == 7 for A in drawn)
    assert len(set(drawn)) == 5
    x, y = task.draw(3, 50)
    np.testing.assert_array_equal(y, np.sign(x)[:, list(drawn[3])].prod(axis=1))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, rtol=1e-6)


def test_a_population_of_many_points_sums_to_one():
    points = T.SparseParity(n=20, k=5).population(jnp.arange(5))
    assert points.x.shape == (2**20, 20)
    p, x, y = (np.asarray(array, np.float64) for array in (points.p, points.x, points.y))
    assert p.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose((p * y) @ x[:, [0, 4, 7]] * np.sqrt(20), [0.5, 0.5, 0], atol=1e-9)


def test_large_populations_are_not_listed():
    assert T.SparseParity(n=25).population_size is None
    with pytest.raises(InputError, match="n must be at most 24"):
        T.SparseParity(n=25).population(jnp.arange(3))

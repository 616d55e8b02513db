"""Section 8.1's target and the concepts, against NumPy."""

import jax
import numpy as np
import pytest

import separatrix as sx
from separatrix.tasks import Composed, Concept, HardInstance, HierarchicalParity, stream


def test_the_target_of_section_8_1():
    task = HierarchicalParity(beta=0.7)
    x, y = task.draw(5, 64)
    assert x.shape == (64, 30)
    F = x[:, 0::2] * x[:, 1::2]
    G = np.stack([(-1) ** i * F[:, 0] * F[:, 1] * F[:, 2] * F[:, 3] for i in range(1, 16)], axis=1)
    np.testing.assert_allclose(y, 0.7 * F + 0.3 * G, rtol=1e-6)
    assert task.threshold == pytest.approx(1.35)
    np.testing.assert_allclose(((y - 0.7 * F) ** 2).sum(axis=1), 1.35, rtol=1e-5)


def test_an_odd_shape_of_the_target_over_the_whole_cube():
    task = HierarchicalParity(k=3, p=3, q=2, alpha=0.5, beta=2.0)
    points = task.population(task.instance(jax.random.key(0), ()))
    x, y = np.asarray(points.x), np.asarray(points.y)
    F = np.stack([x[:, 3 * i : 3 * i + 3].prod(axis=1) for i in range(3)], axis=1)
    top = F[:, 0] * F[:, 1]
    np.testing.assert_allclose(y, 2 * F + 0.5 * np.stack([-top, top, -top], axis=1))
    # what learns nothing errs by k (beta^2 + alpha^2): all the parities are orthogonal
    assert (y**2).sum(axis=1).mean() == pytest.approx(3 * (4 + 0.25))


def test_the_hard_instance_hides_distinct_coordinates_among_the_first():
    task = HardInstance(d=9, d1=5, k=3, alpha=0.2)
    seen = set()
    for seed in range(6):
        where = np.asarray(task.instance(stream(seed, "instance"), ()))
        assert len(set(where.tolist())) == 3
        assert where.max() < 5
        seen.add(tuple(where.tolist()))
        x, y = task.draw(seed, 20)
        F = np.sqrt(9) * x[:, where]
        np.testing.assert_allclose(y, F + 0.2 * F.prod(axis=1, keepdims=True), rtol=1e-5)
    assert len(seen) > 1


@pytest.mark.parametrize("general", [False, True])
def test_concepts_against_numpy(general):
    task = Concept(d=6, k=2, p_F=3, p_G=2, phi_F="tanh", phi_G="cube", general=general, alpha=0.4, beta=1.5)
    F, G = jax.tree.map(np.asarray, task.instance(stream(2, "instance"), ()))
    norm = 1.0 if general else 2**-0.5
    for part in (F, G):
        np.testing.assert_allclose(np.linalg.norm(part.w1, axis=-1), norm, rtol=1e-5)
        assert (np.abs(part.a) <= 1).all()

    def value(part, phi, x):
        out = np.zeros(2)
        for r in range(2):
            for i in range(part.a.shape[1]):
                if general:
                    x1 = np.append(x, 1)
                    out[r] += part.a[r, i] * phi(part.w1[r, i] @ x1 / np.linalg.norm(x1)) * (part.w2[r, i] @ x1)
                else:
                    out[r] += part.a[r, i] * phi(part.w1[r, i] @ x)
        return out

    xs, ys = task.draw(2, 5)
    np.testing.assert_allclose(np.linalg.norm(xs, axis=1), 1, rtol=1e-5)
    for x, y in zip(xs, ys, strict=True):
        f = value(F, np.tanh, x)
        np.testing.assert_allclose(y, 1.5 * f + 0.4 * value(G, lambda z: z**3, f), rtol=2e-4, atol=1e-5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(sx.InputError, match="q must be at most k = 3, got 4"):
        HierarchicalParity(k=3)
    with pytest.raises(sx.InputError, match="d1 must be at most d = 4"):
        HardInstance(d=4, d1=5)
    with pytest.raises(sx.InputError, match="F must map"):
        Composed(lambda x: x.sum(), lambda y: y)
    with pytest.raises(sx.InputError, match="phi_F"):
        Concept(general=True, phi_F="cos")

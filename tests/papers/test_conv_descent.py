"""Lemmas 8, 9 and Theorem 10: the engine's runs against plain NumPy, other seeds, and what must be rejected."""

from dataclasses import replace

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers.convolution import drift as drift_module
from separatrix.papers.convolution import online
from separatrix.papers.convolution.descent import descend
from separatrix.papers.convolution.setting import Setting, least_width, step_size
from separatrix.papers.convolution.theorems import lemma_8, lemma_9, theorem_10
from separatrix.tasks.bits import hypercube

CASE = {"n": 5, "k": 2, "q": 24, "T": 30, "g": "+--+", "j": 2, "activation": "relu6", "eta": 0.4}
LAW = {"distribution": "markov", "p": 0.2}
SETTING = Setting(5, 2, 24, 30, 0.4, "+--+", 2, "relu6", "markov", 0.2, seed=3)


def plain(setting, W, steps):
    """Population descent written out: Definition 1 over all windows, the hinge loss, both layers."""
    s, x = setting, hypercube(setting.n)
    windows = np.array([x[:, j : j + s.k] for j in range(s.n - s.k + 1)])
    flips = (x[:, 1:] != x[:, :-1]).sum(axis=1)
    p = 0.5 * s.p**flips * (1 - s.p) ** (s.n - 1 - flips)
    seen = windows[s.j - 1]
    y = np.array([1.0 if s.g[int((a < 0) * 2 + (b < 0))] == "+" else -1.0 for a, b in seen])
    u = np.zeros((len(windows), *W.shape[:-1])) if s.shared else np.zeros(W.shape[:-1])
    W, losses, kept = W.copy(), [], []
    for _ in range(steps + 1):
        per_window = np.broadcast_to(W, (len(windows), *W.shape[-2:]))
        z = np.einsum("jpk,jqk->jpq", windows, per_window) + 1 / s.k - 1
        hidden = np.clip(z, 0, 6)
        h = np.einsum("jpq,jq->p", hidden, u)
        losses.append(float(p @ np.maximum(0, 1 - y * h)))
        kept.append((u.copy(), W.copy()))
        pull = np.where(y * h < 1, -p * y, 0)
        slope = pull[None, :, None] * ((z > 0) & (z < 6)) * u[:, None, :]
        grad_W = np.einsum("jpq,jpk->jqk", slope, windows)
        u = u - s.eta * np.einsum("p,jpq->jq", pull, hidden)
        W = W - s.eta * (grad_W.sum(axis=0) if s.shared else grad_W)
    return np.array(losses), kept


@pytest.fixture(scope="module")
def run():
    return descend(SETTING)


@pytest.mark.parametrize("shared", [True, False])
def test_the_run_is_plain_gradient_descent_and_so_is_that_of_classes(shared):
    """Every loss, norm and movement, of the network itself and of its 2^k classes with multiplicities."""
    whole, classes = (descend(replace(SETTING, shared=shared, classes=each)) for each in (False, True))
    losses, kept = plain(whole.setting, whole.W[0, 0] if shared else whole.W[0], SETTING.T)
    for found in (whole, classes):
        np.testing.assert_allclose(found.losses, losses, rtol=1e-9, atol=1e-14)
        norms = [np.linalg.norm(u, axis=1) for u, _ in kept]
        np.testing.assert_allclose(found.readout_norms, norms, rtol=1e-9, atol=1e-14)
        moved = [np.linalg.norm(W - kept[0][1]) for _, W in kept]
        np.testing.assert_allclose(np.sqrt((found.drifts**2).sum(axis=1)), moved, rtol=1e-8, atol=1e-14)
        assert found.class_sizes.tolist() == whole.class_sizes.tolist()
        assert found.loss(0, found.u_star()) < 1e-14
    assert losses[-1] < 0.1 < losses[0]


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("lemma", [lemma_8, lemma_9, theorem_10], ids=lambda lemma: lemma.id)
def test_they_hold_for_other_seeds(lemma, seed):
    options = {"sequences": 3} if lemma is theorem_10 else {}
    found = lemma(**CASE, **LAW, seed=seed, **options)
    assert found.status == "holds"
    assert found.slack >= -1e-9


def test_lemma_8_measures_what_it_says(run):
    found = lemma_8(**CASE, **LAW, seed=3)
    t = np.arange(1, 31)
    u = run.readout_norms[1:].max(axis=1) / (6 * 0.4 * t * np.sqrt(24))
    W = run.drifts[1:, 0] / (6 * 0.4**2 * t**2 * 5 * np.sqrt(24 * 2))
    assert found.measured["norm_u_ratio"] == pytest.approx(u.max(), rel=1e-12)
    assert found.measured["drift_ratio"] == pytest.approx(W.max(), rel=1e-12)
    assert found.bound["drift"] == pytest.approx(6 * 0.4**2 * 900 * 5 * np.sqrt(48))
    smaller_c = lemma_8(**CASE, **LAW, seed=3, c="1/2")
    assert (smaller_c.status, smaller_c.assumptions[0].holds) == ("outside", False)
    assert smaller_c.bound["norm_u"] == pytest.approx(found.bound["norm_u"] / 12)


def test_without_a_bound_on_sigma_the_lemmas_claim_nothing():
    for lemma in (lemma_8, lemma_9):
        found = lemma(**CASE | {"activation": "relu"}, **LAW, seed=3)
        assert found.status == "outside"
        assert found.assumptions[0].name == "|sigma| <= c"


def test_the_printed_lemma_8_fails_by_hand():
    found = lemma_8(version="printed")
    assert found.status == "violated"
    eta, u, w = 0.1, 0.0, 1.0
    ratios = []
    for t in range(1, 11):
        u, w = (u + eta * w, w + eta * u) if u * w < 1 else (u, w)
        ratios.append(u / (eta * t))
    assert found.measured["norm_u_ratio"] == pytest.approx(max(ratios), rel=1e-12)
    assert max(ratios) > 1
    assert lemma_8(**CASE, **LAW, seed=3, version="printed").status == "holds"


def test_a_run_that_moves_more_than_it_says_is_caught(run, monkeypatch):
    # another first layer than the iterates' own: the gradients are no longer those of the f_t
    monkeypatch.setattr(online, "descend", lambda setting: replace(run, W=run.W[::-1]))
    assert theorem_10(**CASE, **LAW, sequences=0).status == "violated"
    # a run with 400 times the step that it says
    monkeypatch.setattr(drift_module, "descend", lambda setting: replace(run, setting=replace(SETTING, eta=1e-3)))
    assert lemma_9(**CASE, **LAW).status == "violated"
    assert lemma_8(**CASE, **LAW).status == "violated"


def test_lemma_9_by_hand(run):
    found = lemma_9(**CASE, **LAW, seed=3)
    x = hypercube(5)
    star = run.u_star()
    trained = run.u[-1]
    for name, u in (("lemma 6", star), ("trained", trained)):
        losses = []
        for W in (run.W[0, 0], run.W[-1, 0]):
            hidden = np.clip(np.array([x[:, j : j + 2] @ W.T for j in range(4)]) - 0.5, 0, 6)
            losses.append(float(run.p @ np.maximum(0, 1 - run.y * np.einsum("jpq,jq->p", hidden, u))))
        assert found.measured["change"][name] == pytest.approx(abs(losses[1] - losses[0]), abs=1e-13)
    assert np.linalg.norm(star) ** 2 == pytest.approx(sum(4 / size for size in run.class_sizes))


def test_gradients_that_are_rounding_alone():
    """An odd activation and a constant f at k = 1: every gradient is 0, and its rounding is no step."""
    case = {"n": 3, "k": 1, "q": 24, "T": 30, "g": "--", "activation": "tanh", "eta": 2}
    found = theorem_10(**case, sequences=0)
    assert found.status == "holds"
    assert found.measured["average_loss"] == pytest.approx(1)


def test_the_readouts_descent_by_hand(run):
    gradients = np.array([run.gradient_u(t, run.u[t]) for t in range(30)])
    descent = online.readout_of(run)
    np.testing.assert_array_equal(descent.gradients, gradients.reshape(30, -1))
    sides = descent.against(run.u_star().ravel())
    squares = np.sum(gradients**2, axis=(1, 2))
    right = (np.sum(run.u_star() ** 2) / (2 * 0.4) + 0.4 * squares.sum()) / 30 + run.losses_of(run.u_star())[:30].mean()
    assert sides.left[-1] == pytest.approx(run.losses[:30].mean())
    assert sides.right[-1] == pytest.approx(right, rel=1e-12)
    assert sides.convexity.min() > -1e-12


def test_step_size_and_width():
    assert step_size(9, 4, 10) == pytest.approx(0.15)
    assert step_size(9, 4, 10, "printed") == pytest.approx(3 / np.sqrt(40))
    assert float(least_width(4, 0.1)) == pytest.approx(128 * np.log(160))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"n": 2, "k": 3}, "k must be at most n = 2, got 3"),
        ({"n": 5, "k": 2, "j": 5}, "j must be at most n - k \\+ 1 = 4, got 5"),
        ({"g": "++-"}, "g must have 2\\^k = 8 signs, got 3"),
        ({"g": "parrity"}, "unknown g 'parrity'.*did you mean 'parity'"),
        ({"n": 16, "T": 10**9}, "to follow a run through"),
        ({"eta": 0}, "eta must be a finite number above 0"),
    ],
)
def test_bad_input_is_named(case, words):
    with pytest.raises(InputError, match=words):
        lemma_8(**case)

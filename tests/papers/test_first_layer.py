"""The first layer's lemmas: other seeds, an independent run in NumPy, printed versions, and what must be rejected."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.papers.pooling import dynamics, norms
from separatrix.papers.pooling.dynamics import detection
from separatrix.papers.pooling.first_layer import (
    Setting,
    equation_14_failure,
    features,
    first_layer,
    lucky,
    pattern_sets,
)
from separatrix.papers.pooling.theorems import corollary_5_4, lemma_5_3, lemma_5_5, lemma_c_1, lemma_c_2, lemma_c_3

LEMMAS = (lemma_5_3, corollary_5_4, lemma_5_5, lemma_c_1, lemma_c_2, lemma_c_3)
SIZE = {"d": 4, "n": 3, "T1": 30}
SETTING = Setting.of(4, 3, None, None, 200, 30, None, None, 5)


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda lemma: lemma.id)
def test_lemmas_hold_for_other_seeds_and_fewer_patterns(lemma):
    for options in ({"seed": 5}, {"seed": 6}, {"seed": 7, "l": 3}):
        found = lemma(**SIZE, **options)
        assert found.status == "holds", options
        assert found.slack > 0
    assert lemma(**SIZE, seed=5, r=1e-3).status == "outside"
    assert lemma(**SIZE, seed=5, eta_1=1e-3).status == "outside"
    assert lemma(**SIZE, k=100).status == "outside"


def test_the_run_is_algorithm_1():
    """Every step again in NumPy, from the products alone: o_j . w changes by the weight of the samples o_j wins."""
    run = first_layer(SETTING)
    s, m1 = run.setting, run.m1
    y, present = run.y[:m1], run.present[:m1]
    products = run.products[0]
    for t in range(s.T1):
        pooled = np.where(present[:, :, None], products, -np.inf)
        winner, best = pooled.argmax(axis=1), pooled.max(axis=1)
        outputs = np.maximum(best, 0) @ run.a
        pull = s.eta_1 / m1 * y / (1 + np.exp(y * outputs))
        won = (winner[:, None, :] == np.arange(s.l)[None, :, None]) & (best > 0)[:, None, :]
        products = products + np.einsum("p,pji->ji", pull, won) * run.a
        np.testing.assert_allclose(run.products[t + 1], products, rtol=1e-9, atol=1e-20)
    assert run.norms[0] == pytest.approx(np.full(s.k, s.r))


def test_lucky_filters_are_those_of_equation_6():
    run = first_layer(SETTING)
    for sign, own, other in ((1, 0, 1), (-1, 1, 0)):
        expected = [
            i
            for i in range(SETTING.k)
            if run.a[i] == sign
            and run.products[0, own, i] > 0
            and run.products[0, own, i] == np.delete(run.products[0, :, i], other).max()
        ]
        assert lucky(run.products[0], run.a, sign).tolist() == expected


def test_detection_sees_each_claim_broken():
    run = first_layer(SETTING)
    assert detection(run, 1).holds
    assert detection(run, -1).holds
    filter = int(run.lucky(1)[3])

    def changed(t, pattern, value):
        products = run.products.copy()
        products[t, pattern, filter] = value
        return detection(replace(run, products=products), 1)

    eta, r = SETTING.eta_1, SETTING.r
    slow = changed(12, 0, 12 * eta / 9 * 0.999)
    assert (slow.holds, slow.where["projection"]) == (False, {"t": 12, "filter": filter})
    assert changed(12, 0, 12 * eta / 9 * 1.001).holds
    wide = changed(7, 1, 1.001 * r)
    assert (wide.holds, wide.where["other"]) == (False, {"t": 7, "pattern": 2, "filter": filter})
    rival = changed(30, 3, run.products[30, 0, filter] * 1.001)
    assert rival.misdetections == 1
    # the negative pattern is in no positive sample
    assert changed(30, 1, run.products[30, 0, filter] * 1.001).misdetections == 0


def test_the_printed_lemmas_have_counterexamples():
    printed = lemma_5_3(**SIZE, version="printed")
    assert printed.status == "violated"
    assert printed.measured["projection_on_o1"] < 1 / 9
    # the counterexample is a sample without a positive example among its first half
    run = first_layer(Setting.of(4, 3, None, None, 4, 30, None, None, printed.measured["seed"]))
    assert run.share(1) < Fraction(1, 3)
    assert lemma_5_3(**SIZE, version="printed", m=200).status == "holds"
    found = lemma_c_3(**SIZE, version="printed")
    assert (found.status, found.measured["equation_14_failure"]) == ("violated", 1)
    assert lemma_5_5(**SIZE, version="printed").status == "violated"
    assert lemma_5_5(d=4, n=5, T1=3, version="printed").status == "holds"


def test_small_samples_are_vacuous():
    assert lemma_5_3(**SIZE, m=40, seed=5).status == "vacuous"
    assert corollary_5_4(d=3, n=3, T1=5, m=64).bound["probability"] == pytest.approx(
        1 - 4 * np.exp(-3) - 4 * np.exp(-64 / 36)
    )


def test_equation_14_by_enumeration():
    for m1 in (1, 2, 5, 9):
        counts = [bin(word).count("1") for word in range(2**m1)]
        failing = sum(3 * c < m1 or 3 * (m1 - c) < m1 for c in counts)
        assert equation_14_failure(m1) == Fraction(failing, 2**m1)


def test_outputs_and_responses_against_the_network():
    """Lemma C.2's outputs from the products, against Equation 1 on the samples; Lemma 5.5's on the support."""
    from separatrix.training.trajectory import follow

    path = follow(SETTING.cell(), SETTING.T1)
    m1 = 100
    x = np.asarray(path.sample.x)[:m1]
    outputs = [np.maximum(x @ W, 0).max(axis=1) @ path.params.a[0] for W in path.params.W]
    assert lemma_c_2(**SIZE, seed=5).measured["largest_output"] == pytest.approx(np.abs(outputs).max(), rel=1e-9)
    responses = [(path.instance @ W).max() / (2 * SETTING.eta_1 * t) for t, W in enumerate(path.params.W) if t]
    assert lemma_5_5(**SIZE, seed=5).measured["largest_response_ratio"] == pytest.approx(max(responses), rel=1e-9)
    norms = [np.linalg.norm(W, axis=0).max() / (SETTING.eta_1 * (t + 1)) for t, W in enumerate(path.params.W)]
    assert lemma_c_1(**SIZE, seed=5).measured["largest_norm_ratio"] == pytest.approx(max(norms), rel=1e-9)


def test_a_wrong_rate_is_caught(monkeypatch):
    """A run with twice the step than it says breaks the bounds that are near enough; one with the sign turned, all."""
    honest = first_layer(SETTING)

    def ascended(setting):
        away = 2 * honest.products[:1] - honest.products
        return replace(honest, products=away)

    monkeypatch.setattr(dynamics, "first_layer", ascended)
    assert lemma_5_3(**SIZE, seed=5).status == "violated"
    monkeypatch.setattr(
        norms, "first_layer", lambda setting: replace(honest, norms=8 * honest.norms, steps=8 * honest.steps)
    )
    assert lemma_c_1(**SIZE, seed=5).status == "violated"


def test_where_r_breaks_the_lemmas():
    """Norms start at r, so C.1 fails from r > eta_1 on; the scan says so."""
    assert lemma_c_1(**SIZE, seed=5).measured["fails_at_r_over_eta_1"] == 10
    assert lemma_5_5(**SIZE, seed=5).measured["fails_at_r_over_eta_1"] == 10
    r = 3 * SETTING.eta_1
    assert lemma_c_1(**SIZE, seed=5, r=r).measured["largest_norm_ratio"] == pytest.approx(3)


def test_features_and_sets():
    products = np.array([[1.0, -2.0], [3.0, -1.0], [2.0, 4.0]])
    present = np.array([[True, False, False], [True, False, True], [False, True, False]])
    assert features(products, present).tolist() == [[1, 0], [2, 4], [3, 0]]
    sets, y, p = pattern_sets(3, 5)
    assert len(sets) == 12
    assert p.sum() == pytest.approx(1)
    assert (sets[:, :2].sum(axis=1) == 1).all()
    assert np.array_equal(sets[:, 0], y > 0)


def test_too_many_patterns_are_refused():
    with pytest.raises(InputError, match="l must be at most d"):
        lemma_c_1(d=4, l=5)

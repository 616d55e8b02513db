"""The criteria of the pooling paper's claims, on results written by hand: each outcome must be reachable."""

from types import SimpleNamespace

import pytest

from separatrix.papers.pooling import claims
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import error_interval, mean_interval

SIZES = (40.0, 1280.0)


def result(test, train=None, steps=None, noises=("ball",), x="train_size", places=SIZES):
    """A result whose values by learner are a list of seeds' values for each place."""
    tables = {"test_error": test, "train_error": train, "steps": steps}

    def curve(axis="train_size", y="test_error", where=None):
        assert axis == x
        summary = (lambda v: error_interval(v, 1000)) if y.endswith("error") else mean_interval
        return Curve(
            axis,
            y,
            {
                label: tuple(
                    Point(x, summary(v), tuple(v), tuple(range(len(v)))) for x, v in zip(places, values, strict=False)
                )
                for label, values in tables[y].items()
            },
        )

    study = SimpleNamespace(
        tasks=[SimpleNamespace(noise=kind) for kind in noises], procedure=SimpleNamespace(max_steps=500)
    )
    return SimpleNamespace(curve=curve, study=study, missing=list)


def decided(group, suffix, found):
    claim = next(claim for claim in group if claim.id.endswith(suffix))
    return claim.decide(found).outcome


LOW, HIGH = [0.01, 0.012, 0.011], [0.3, 0.31, 0.305]
SPREAD = [0.0, 0.2, 0.01]
ALL = ("ConvPool", "MLP", "SVM")


def by_learner(*values):
    return dict(zip(ALL, values, strict=True))


@pytest.mark.parametrize(
    ("conv", "outcome"), [([LOW, LOW], "supported"), ([SPREAD, SPREAD], "inconclusive"), ([[0.5] * 3] * 2, "refuted")]
)
def test_convpool_wins(conv, outcome):
    assert decided(claims.FIG3B, "convpool-wins", result(by_learner(conv, [HIGH] * 2, [HIGH] * 2))) == outcome


NAN = float("nan")


@pytest.mark.parametrize(
    ("train", "steps", "clean", "noisy"),
    [
        (by_learner([0, 0], [0, 0], [0, 0]), 100, "supported", "inconclusive"),
        (by_learner([0, 0], [0, 0], [0, 0.1]), 100, "refuted", "supported"),
        (by_learner([0, 0], [0, 0.01], [0, 0.1]), 100, "refuted", "refuted"),
        (by_learner([0, 0], [0, 0.01], [0, 0.1]), 500, "refuted", "inconclusive"),
        (by_learner([0, 0], [0, 0.01], [0, 0]), 500, "inconclusive", "inconclusive"),
    ],
)
def test_training_errors(train, steps, clean, noisy):
    """An error that the budget of steps left in a network refutes nothing; one of the SVM does on clean data."""
    train = {label: [[value] * 3 for value in values] for label, values in train.items()}
    taken = {label: [[100.0] * 3, [NAN if label == "SVM" else steps] * 3] for label in ALL}
    found = result({}, train, taken)
    assert decided(claims.FIG3A, "training-errors-zero", found) == clean
    assert decided(claims.FIG3B, "training-errors", found) == noisy


@pytest.mark.parametrize(
    ("conv", "svm", "outcome"),
    [(LOW, HIGH, "supported"), (LOW, LOW, "refuted"), (HIGH, HIGH, "refuted"), (LOW, SPREAD, "inconclusive")],
)
def test_the_linear_method_fails(conv, svm, outcome):
    found = result(by_learner([HIGH, conv], [HIGH, HIGH], [HIGH, svm]))
    assert decided(claims.FIG3B, "linear-fails", found) == outcome


@pytest.mark.parametrize(
    ("conv", "mlp", "grows", "mildly"),
    [
        ([LOW, LOW], [LOW, HIGH], "supported", "supported"),
        ([LOW, HIGH], [LOW, HIGH], "supported", "refuted"),
        ([LOW, LOW], [HIGH, LOW], "refuted", "refuted"),
        ([LOW, SPREAD], [LOW, SPREAD], "inconclusive", "inconclusive"),
    ],
)
def test_more_patterns(conv, mlp, grows, mildly):
    found = result(by_learner(conv, mlp, [LOW, HIGH]), x="n", places=(4, 40))
    assert decided(claims.FIG4, "deteriorate", found) == grows
    assert decided(claims.FIG4, "mildly-affected", found) == mildly


@pytest.mark.parametrize(("conv", "outcome"), [([LOW, LOW], "supported"), ([LOW, HIGH], "refuted")])
def test_the_bounds_predict_the_gap(conv, outcome):
    found = result({"ConvPool": conv, "leaky FC": [LOW, HIGH], "SVM": [LOW, HIGH]}, x="n", places=(4, 40))
    assert decided(claims.SECTION_6, "gap", found) == outcome


@pytest.mark.parametrize(
    ("layerwise", "outcome"),
    [(LOW, "supported"), ([0.0, 0.2, 0.01], "inconclusive"), ([0.3, 0.3, 0.31], "refuted")],
)
def test_layerwise_is_alike(layerwise, outcome):
    found = result({"end to end": [LOW, LOW], "layerwise": [LOW, layerwise]}, noises=("none", "ball"))
    assert decided(claims.LAYERWISE, "end-to-end", found) == outcome


@pytest.mark.parametrize(
    ("last", "outcome"), [([0.011, 0.012, 0.013], "supported"), (SPREAD, "inconclusive"), (HIGH, "refuted")]
)
def test_more_channels(last, outcome):
    found = result({"ConvPool": [HIGH, LOW, last]}, x="channels", places=(8, 100, 4000))
    assert decided(claims.CHANNELS, "do-not-hurt", found) == outcome

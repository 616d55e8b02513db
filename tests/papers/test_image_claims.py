"""The criteria of figures 1, 3 and 4, on curves that are made up to lie on either side of them."""

from types import SimpleNamespace

import pytest

from separatrix.papers.convolution import claims
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import error_interval


def result(errors, epochs, x="n"):
    """A result whose curves have these errors (three seeds a place, 2000 test points)."""
    points = {
        name: tuple(
            Point(place, error_interval(values, 2000), tuple(values), (0, 1, 2)) for place, values in found.items()
        )
        for name, found in errors.items()
    }
    study = SimpleNamespace(procedure=SimpleNamespace(epochs=epochs), labelled=[(name, None) for name in errors])
    return SimpleNamespace(curve=lambda axis: Curve(axis, "test_error", points), study=study)


def around(middle, spread=0.002):
    return [middle - spread, middle, middle + spread]


def decided(found, decide):
    return {claim.id.split("-", 1)[1]: claim.decide(found).outcome for claim in decide("convolution/fig0")}


def by_n(fcn, cnn, lcn):
    return {"FCN": dict(zip((3, 7, 19), fcn)), "CNN": dict(zip((3, 7, 19), cnn)), "LCN": dict(zip((3, 7, 19), lcn))}  # noqa: B905


AS_THE_PAPER_SAYS = by_n(
    [around(0.1), around(0.3), around(0.5)],
    [around(0.1), around(0.12), around(0.15)],
    [around(0.1), around(0.1), around(0.13)],
)


def test_figure_3_as_the_paper_says():
    assert set(decided(result(AS_THE_PAPER_SAYS, 30), claims.middle).values()) == {"supported"}


def test_fewer_epochs_decide_no_levels():
    found = decided(result(AS_THE_PAPER_SAYS, 12), claims.middle)
    assert found["local-networks-stay-good"] == found["fcn-degrades-to-chance"] == "inconclusive"
    assert found["local-networks-beat-fcn"] == "supported"


def test_figure_3_the_other_way_round():
    swapped = by_n(
        [around(0.1), around(0.1), around(0.1)],
        [around(0.1), around(0.2), around(0.3)],
        [around(0.1), around(0.22), around(0.5)],
    )
    assert set(decided(result(swapped, 30), claims.middle).values()) == {"refuted"}


def test_figure_4():
    good = by_n(
        [around(0.1), around(0.2), around(0.49)],
        [around(0.1), around(0.4), around(0.5)],
        [around(0.1), around(0.3), around(0.5)],
    )
    assert set(decided(result(good, 30), claims.far).values()) == {"supported"}
    bad = by_n(
        [around(0.1), around(0.4), around(0.3)],
        [around(0.1), around(0.2), around(0.5)],
        [around(0.1), around(0.2), around(0.5)],
    )
    assert set(decided(result(bad, 30), claims.far).values()) == {"refuted"}


def photographs(cnn, fcn, epochs=125):
    """Parameter counts that differ a little, as those of real networks do."""
    errors = {"CNN, depth 4": {98_000: cnn[0], 295_000: cnn[1]}, "FCN, depth 4": {97_000: fcn[0], 299_000: fcn[1]}}
    return result(errors, epochs, "parameters")


@pytest.mark.parametrize(
    ("cnn", "fcn", "epochs", "wins", "harmless"),
    [
        ([0.3, 0.25], [0.5, 0.45], 125, "supported", "supported"),
        ([0.3, 0.46], [0.5, 0.45], 125, "inconclusive", "refuted"),
        ([0.3, 0.5], [0.5, 0.45], 125, "refuted", "refuted"),
        ([0.3, 0.25], [0.5, 0.45], 6, "inconclusive", "inconclusive"),
    ],
)
def test_figure_1(cnn, fcn, epochs, wins, harmless):
    """The FCN's seeds are shuffled, so that an interval of differences is not empty."""
    found = photographs([around(e) for e in cnn], [[e - 0.004, e + 0.004, e] for e in fcn], epochs)
    assert [claim.decide(found).outcome for claim in claims.FIG1] == [wins, harmless]

"""A tiny figure for the tests of the commands and of the report."""

import contextlib

import pytest

import separatrix as sx
from separatrix import papers
from separatrix.studies.figures import Figure
from separatrix.studies.verdicts import LOWER, Claim, Verdict, lower

ID = "parity/tiny"


def tiny_study(scale):
    return sx.Study(
        task=sx.tasks.PatternDetection(d=5, n=2),
        learners={"net": sx.learners.ConvPool(8), "svm": sx.learners.LinearSVM()},
        train_size=[4, 12, 16],
        seeds=2,
        tune={"learning_rate": [0.01, 0.1]},
        procedure=sx.Procedure(max_steps=30, test_size=40, validation_size=40, evaluation="sample"),
        name=f"{ID} ({scale})",
    )


TINY = Figure(
    id=ID,
    statement="A net & an <svm>",
    study=tiny_study,
    draw=lambda result: result.curve().plot(title="Tiny", reference=0.5),
    claims=(
        Claim("parity/tiny-net-wins", "the net errs less", LOWER, lambda r: lower(r.curve(), "net", "svm")),
        Claim(
            "parity/tiny-refuted", "cats are <dogs>", "none", lambda r: Verdict("refuted", {"cats": 3, "dogs": [1, 2]})
        ),
    ),
)


@contextlib.contextmanager
def tiny_papers():
    """While active, the papers have this one figure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "figures", lambda paper=None: {ID: TINY} if paper in (None, "parity") else {})
        yield

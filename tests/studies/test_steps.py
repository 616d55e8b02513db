"""Steps to a target: chosen by, counted, infinite where not reached; figures of several studies."""

import math

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import InputError
from separatrix.learners import FCN, GradientDescent, LinearSVM, Trained
from separatrix.studies.charts import curve_chart
from separatrix.studies.curve import Curve, Point
from separatrix.studies.figures import JointFigure, reproduce
from separatrix.studies.intervals import Summary, mean_interval
from separatrix.studies.pages import save_chart
from separatrix.studies.store import Store
from separatrix.studies.tuning import steps_to_target
from separatrix.studies.verdicts import Claim, Verdict

PROCEDURE = sx.Procedure(max_steps=40, target_loss=0.3, check_every=1, evaluation="population")


def study(**changes):
    plan = {
        "task": sx.tasks.KPattern(3, 2),
        "learners": {"net": Trained(FCN(12, "relu"), GradientDescent(), "hinge")},
        "train_size": None,
        "seeds": 2,
        "tune": {"learning_rate": [1e-4, 0.1, 0.5]},
        "procedure": PROCEDURE,
        "select": "steps",
        "name": "parity/steps (quick)",
    }
    return sx.Study(**plan | changes)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"status": "ok", "steps": 7, "train_loss": 0.2, "train_error": 0.1}, 7),
        ({"status": "ok", "steps": 40, "train_loss": 0.2, "train_error": 0.1}, 40),
        ({"status": "ok", "steps": 40, "train_loss": 0.4, "train_error": 0.1}, math.inf),
        ({"status": "ok", "steps": 20, "train_loss": 0.4, "train_error": 0.1}, math.inf),
        ({"status": "ok", "steps": 9, "train_loss": float(np.float32(0.3)), "train_error": 0.1}, 9),
        ({"status": "diverged", "steps": 3}, math.inf),
        ({}, math.inf),
    ],
)
def test_steps_to_the_target(record, expected):
    assert steps_to_target(record, PROCEDURE) == expected


def test_rates_are_chosen_for_the_fewest_steps(tmp_path):
    result = study().run(tmp_path, workers=0)
    (condition,) = result.conditions
    steps = {
        choice: [steps_to_target(result.records[cell.key], PROCEDURE) for cell in condition.cells(choice)]
        for choice in condition.choices
    }
    best = result.chosen(condition)
    assert math.isinf(sum(steps[(("learning_rate", 1e-4),)]))
    assert sum(steps[best]) == min(map(sum, steps.values())) < math.inf
    (point,) = result.curve("n", "steps_to_target").of("net")
    assert list(point.values) == steps[best]


def test_where_none_gets_there_the_least_loss_is_chosen(tmp_path):
    result = study(tune={"learning_rate": [1e-4, 1e-3]}).run(tmp_path, workers=0)
    (condition,) = result.conditions
    assert result.chosen(condition) == (("learning_rate", 1e-3),)
    (point,) = result.curve("n", "steps_to_target").of("net")
    assert all(map(math.isinf, point.values))


def test_a_joint_figure_has_all_of_its_studies(tmp_path):
    figure = JointFigure(
        id="parity/steps",
        statement="two studies",
        studies=lambda scale: {"one": study(tune={}), "two": study(tune={}, seeds=3)},
        draw=lambda results: curve_chart(results["two"].curve("n")),
        claims=(Claim("parity/both", "both", "both", lambda results: Verdict("supported", {"of": list(results)})),),
        x="n",
    )
    found = reproduce(figure, "quick", Store(tmp_path), workers=0)
    assert found["cells"] == {"planned": 5, "reused": 2, "ran": 3, "diverged": 0, "failed": 0}
    assert [(row["panel"], row["n"]) for row in found["series"]] == [("one", 2), ("two", 3)]
    assert found["claims"][0]["evidence"] == {"of": ["one", "two"]}
    assert figure.plan("quick") == "parity/steps (quick)"
    assert found["select"] == "steps"


def test_what_to_select_by_is_named():
    with pytest.raises(InputError, match="did you mean 'steps'"):
        study(select="stpes")


def test_numbers_beyond_whole_ones_are_drawn(tmp_path):
    points = tuple(Point(n, Summary(v, math.nan, 1, v, v), (), ()) for n, v in ((1, 1.0), (2, 1e25)))
    chart = curve_chart(Curve("n", "time", {"net": points}), log_y=True)
    svg, *_ = save_chart(chart, tmp_path / "large")
    assert "1e+24" in svg.read_text()


def test_a_solver_has_no_steps(tmp_path):
    plan = study(learners=[LinearSVM()], tune={}, train_size=8, select="validation")
    (point,) = plan.run(tmp_path, workers=0).curve("train_size", "steps_to_target").of("SVM")
    assert all(map(math.isinf, point.values))
    assert mean_interval(point.values).mean == math.inf

"""What the commands print: the shapes of the JSON documents, and that nothing else is on standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import separatrix
from separatrix.cli.entry import run
from tests.tiny import ID, TINY, tiny_papers

NUMBER = (int, float)


def document(capsys, *args, code=0):
    assert run([*args, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with the tiny figure, a certificate and a printed one."""
    folder = tmp_path_factory.mktemp("cli") / "store"
    with tiny_papers():
        assert run(["reproduce", ID, "--store", str(folder), "--workers", "0"]) == 0
    return folder


def shape(value):
    """Keys and types, as far down as they are the same for all items."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, NUMBER) and not isinstance(value, bool) else type(value).__name__


def test_certify(capsys):
    found = document(capsys, "certify", "convolution/theorem-12", "--set", "n=12", "--set", "k=3")
    assert found["status"] == "holds"
    assert found["params"]["n"] == 12
    exact = {"gradient_w_sq": "number", "gradient_w_sq_exact": "str", "gradient_u_sq": "number"}
    assert exact.items() <= shape(found["measured"]).items()
    expected = {
        "claim": "str",
        "statement": "str",
        "assumptions": [{"name": "str", "value": "number", "limit": "number", "holds": "bool"}],
        "checks": [{"name": "str", "relation": "str", "slack": "number", "holds": "bool"}],
        "slack": "number",
        "status": "str",
        "vacuous": "NoneType",
        "unchecked": "NoneType",
        "method": "str",
        "notes": [],
        "seconds": "number",
    }
    assert {name: shape(found[name]) for name in expected} == expected
    assert set(found) == {*expected, "params", "measured", "bound"}


def test_certify_for_people(capsys):
    assert run(["certify", "convolution/theorem-12", "--set", "n=4", "--set", "k=2"]) == 0
    out = capsys.readouterr().out
    assert "vacuous: Parseval alone bounds" in out
    assert "method: exact" in out
    assert "\x1b" not in out


def test_strict_fails_on_a_violated_statement(capsys):
    printed = ["certify", "pooling/lemma-5.2", "--set", "version=printed"]
    assert run(printed) == 0
    assert run([*printed, "--strict"]) == 1
    assert run(["certify", "pooling/lemma-5.2", "--strict"]) == 0


def test_strict_passes_where_a_bound_was_only_evaluated(capsys):
    """The query for the sizes from which a bound says something: the words fit, and no slack is nan."""
    assert run(["certify", "parity/theorem-2", "--set", "k=7", "--set", "epsilon=1/3", "--strict"]) == 0
    printed = capsys.readouterr().out
    assert "undecided: only the bound is evaluated" in printed
    assert "nan" not in printed
    assert "interval" not in printed


@pytest.mark.parametrize("kind", ["tasks", "learners", "claims", "figures", "theorems"])
def test_list(kind, capsys):
    found = document(capsys, "list", kind)
    assert found
    for row in found:
        assert {"id", "paper", "statement"} <= row.keys()
        assert row["statement"]
    assert {row["id"] for row in found} & {"PatternDetection", "ConvPool", "pooling/theorem-4.2", "pooling/fig3a"}


def test_list_of_everything(capsys):
    assert set(document(capsys, "list")) == {"tasks", "learners", "claims", "figures", "theorems"}
    assert run(["list"]) == 0
    assert "pooling/theorem-4.2" in capsys.readouterr().out


def test_reproduce(store, capsys):
    with tiny_papers():
        found = document(capsys, "reproduce", ID, "--store", str(store), "--workers", "0")
    assert found["cells"] == {"planned": 18, "reused": 18, "ran": 0, "diverged": 0, "failed": 0}
    assert shape(found["series"]) == [
        {
            "learner": "str",
            "x": "number",
            "mean": "number",
            "std": "number",
            "low": "number",
            "high": "number",
            "n": "number",
        }
    ]
    assert [claim["id"] for claim in found["claims"]] == [claim.id for claim in TINY.claims]
    assert {"id", "verdict", "criterion", "evidence"} <= found["claims"][0].keys()
    assert {"figure", "scale", "seconds", "store", "figure_files"} <= found.keys()
    assert sorted(path.suffix for path in (store / "figures").iterdir()) == [".html", ".json", ".pdf", ".png", ".svg"]


def test_status(store, capsys):
    found = document(capsys, "status", "--store", str(store))
    numbers = dict.fromkeys(("planned", "done", "diverged", "failed", "left"), "number")
    assert shape(found) == {
        "store": "str",
        "records": "number",
        "unplanned": "number",
        "bytes": "number",
        "unreadable": "number",
        "plans": [{"name": "str", **numbers, "messages": []}],
    }
    assert found["plans"][0]["planned"] == found["plans"][0]["done"] == found["records"] == 18
    assert run(["status", "--store", str(store)]) == 0
    assert f"{ID} (quick)" in capsys.readouterr().out


def test_export(store, tmp_path, capsys):
    for name in ("all.csv", "all.parquet"):
        found = document(capsys, "export", "--to", str(tmp_path / name), "--store", str(store))
        assert shape(found) == {"file": "str", "rows": "number", "columns": ["str"]}
        assert found["rows"] == 18
    csv, parquet = pl.read_csv(tmp_path / "all.csv"), pl.read_parquet(tmp_path / "all.parquet")
    assert csv["cell"].to_list() == parquet["cell"].to_list()
    lists = [json.loads(text) if text else None for text in csv["curve_step"].to_list()]
    assert lists == parquet["curve_step"].to_list()


def test_doctor(store, capsys):
    found = document(capsys, "doctor", "--store", str(store))
    assert found["ok"]
    assert shape(found["checks"]) == [{"name": "str", "state": "str", "found": "str", "advice": "str"}]
    assert {"Python", "packages", "devices", "threads", "cache", "store", "disk"} <= {
        c["name"] for c in found["checks"]
    }


def test_doctor_says_what_is_broken(capsys, tmp_path):
    (tmp_path / "file").touch()
    found = document(capsys, "doctor", "--store", str(tmp_path / "file" / "store"), code=1)
    assert found["verdict"] == "broken: store"


def test_completion_knows_ids(tmp_path, monkeypatch):
    from click.shell_completion import ShellComplete

    from separatrix.cli.group import cli

    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path))
    for _ in range(2):  # made, then remembered
        items = ShellComplete(cli, {}, "separatrix", "X").get_completions(["certify"], "pooling/theorem-4")
        assert [item.value for item in items] == ["pooling/theorem-4.2"]
    assert (tmp_path / "ids" / "theorems.json").exists()


STUDY = """
import separatrix as sx
from dataclasses import dataclass
from sklearn.base import BaseEstimator

class Broken(BaseEstimator):
    def fit(self, x, y):
        print("noise from a worker", flush=True)
        raise ValueError("no solution")
    def predict(self, x):
        return x

print("noise from the file")
study = sx.Study(
    task=sx.tasks.PatternDetection(d=5, n=2),
    learners={"svm": sx.learners.LinearSVM(), "broken": Broken()},
    train_size=[4, 8],
    seeds=1,
)
"""


def test_run_of_a_users_file_whose_learner_fails(tmp_path):
    (tmp_path / "own.py").write_text(STUDY)
    command = [sys.executable, "-m", "separatrix", "run", "own.py", "--workers", "1", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(separatrix.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["figure"] == "own"
    assert found["cells"]["failed"] == 2
    assert "separatrix: 2 cells failed; the same command runs them again" in done.stderr
    assert "2 x ValueError: no solution" in done.stderr
    assert "noise from a worker" in done.stderr
    assert (tmp_path / "separatrix-results" / "figures" / "own-own.svg").exists()

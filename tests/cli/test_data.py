"""The command that gets data sets, and what says that one is not there."""

import json

import pytest

from separatrix.cli.entry import run
from separatrix.tasks import datasets
from separatrix.tasks.datasets import DataError
from tests.three_files import CONTENTS, FILES, Given, made


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny(monkeypatch):
    source = Given(CONTENTS)
    monkeypatch.setattr(datasets, "DATASETS", {"tiny": made(source)})
    return source


def test_data_get_and_list(tiny, capsys):
    assert run(["data", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "absent"
    assert run(["data", "get", "tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "verified"
    assert found["origins"]["three"] == "given"
    made().path(FILES[0]).write_bytes(b"")
    assert run(["data", "list"]) == 0
    assert "damaged" in capsys.readouterr().out
    made().path(FILES[0]).unlink()
    assert run(["data"]) == 0
    assert "incomplete" in capsys.readouterr().out


def test_data_get_without_a_network_exits_with_1(tiny, capsys):
    tiny.contents, tiny.end = {}, DataError("no connection")
    assert run(["data", "get", "tiny"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("separatrix: tiny could not be had (given: no connection)")
    assert last.endswith("--from DIR")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["get", "tini"], "did you mean 'tiny'"),
        (["got"], "did you mean 'get'"),
        (["get"], "NAME is missing; separatrix data list shows"),
        (["get", "tiny", "--from", "nowhere-at-all"], "--from must be a folder that exists, got 'nowhere-at-all'"),
    ],
)
def test_bad_input_is_one_line(tiny, capsys, args, message):
    assert run(["data", *args]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_figure_without_its_data_says_how_to_get_them(capsys, tmp_path):
    for figure in ("pooling/fig3c", "pooling/fig5"):
        assert run(["reproduce", figure, "--store", str(tmp_path / "store")]) == 2
        assert capsys.readouterr().err.splitlines() == [
            "separatrix: the data set mnist is not on this machine; run: separatrix data get mnist"
        ]

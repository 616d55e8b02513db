"""Bad input, exit codes and what is imported: every complaint is one line that says what is allowed."""

import subprocess
import sys

import pytest

from separatrix.cli.entry import run
from separatrix.cli.group import COMMANDS, WELCOME
from separatrix.cli.output import DEFAULT_STORE
from separatrix.studies import study

HEAVY = ("jax", "polars", "altair", "rich", "numpy", "jinja2", "scipy")


def complaint(capsys, *args):
    """The one line that bad input gets, with exit code 2 and nothing on standard output."""
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("separatrix: ")
    assert err.count("\n") == 1
    return err


def test_help_imports_nothing_heavy():
    code = f"import sys, separatrix.cli; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_command_has_help(capsys):
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        out, err = capsys.readouterr()
        assert f"separatrix {name}" in out
        assert err == ""


def test_alone_it_shows_what_to_do_next(capsys):
    assert run([]) == 0
    assert capsys.readouterr().out == WELCOME + "\n"
    assert WELCOME.count("\n  separatrix ") == 4


def test_the_default_store_is_the_studies(capsys):
    assert DEFAULT_STORE == study.DEFAULT_STORE


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["certfy"], "did you mean 'certify'?"),
        (["--vresion"], "unknown option '--vresion'; did you mean '--version'?"),
        (["certify"], "PAPER/RESULT is missing; separatrix list theorems"),
        (["certify", "pooling/theorem-4.2", "--sett", "n=3"], "did you mean '--set'?"),
        (["certify", "pooling/theorem-4.3"], "did you mean 'pooling/theorem-4.2'?"),
        (["certify", "poolin/theorem-4.2"], "did you mean 'pooling/theorem-4.2'?"),
        (["certify", "pooling/theorem-4.2", "--set", "n"], "--set must be NAME=VALUE, got 'n'"),
        (["certify", "pooling/theorem-4.2", "--set", "n="], "--set must be NAME=VALUE"),
        (["certify", "pooling/theorem-4.2", "--set", "n=3", "--set", "n=4"], "got n twice"),
        (["certify", "pooling/theorem-4.2", "--set", "n=two"], "n must be an integer"),
        (["certify", "pooling/theorem-4.2", "--set", "n=1e999999999"], "n must be a number of reasonable length"),
        (["certify", "convolution/theorem-12", "--set", "n=3", "--set", "k=5"], "k must be"),
        (["certify", "convolution/theorem-12", "--set", "weigths=sign"], "did you mean 'weights'?"),
        (["certify", "convolution/theorem-12", "--set", "weights=sing"], "did you mean 'sign'?"),
        (["list", "theorem"], "did you mean 'theorems'?"),
        (["list", "theorems", "more"], "unexpected extra argument"),
        (["reproduce", "pooling/fig3"], "did you mean 'pooling/fig3"),
        (["reproduce", "pooling/fig3a", "--scale", "papr"], "did you mean 'paper'?"),
        (["reproduce", "pooling/fig3a", "--workers", "-1"], "workers must be an integer of at least 0, got '-1'"),
        (["reproduce", "pooling/fig3a", "--workers", "two"], "workers must be an integer of at least 0, got 'two'"),
        (["status", "--store", "nothing-here"], "store must be a folder that exists, got 'nothing-here'"),
        (["report", "--store", "nothing-here"], "store must be a folder that exists"),
        (["export", "--to", "x.csv", "--store", "nothing-here"], "store must be a folder that exists"),
        (["export", "--to", "x.xls"], "--to must end in .parquet or .csv, got 'x.xls'"),
        (["export"], "--to is missing"),
        (["completion", "bsh"], "did you mean 'bash'?"),
        (["run", "nothing.py"], "FILE.py must be a Python file that exists"),
    ],
)
def test_bad_input_gets_one_line(args, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in complaint(capsys, *args)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_no_store(capsys, tmp_path):
    assert "with parts or plans in it" in complaint(capsys, "status", "--store", str(tmp_path))
    file = tmp_path / "file"
    file.touch()
    assert "got the file" in complaint(capsys, "reproduce", "pooling/fig3a", "--store", str(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ny = z\n", "own.py, line 2: NameError: name 'z' is not defined"),
        ("x = 1\nx = = 2\n", "own.py, line 2: SyntaxError"),
        ("import sys\nsys.exit(3)\n", "own.py, line 2: SystemExit: 3"),
        ("import separatrix as sx\n\nsx.tasks.PatternDetection(d=0)\n", "line 3: InputError: d must be an integer"),
        ("x = 1\n", "must define a Study at its top level"),
        ("study = 1\n", "study must be a separatrix.Study, got a int"),
    ],
)
def test_errors_in_a_users_file_name_file_and_line(text, said, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")
    (tmp_path / "own.py").write_text(text)
    assert said in complaint(capsys, "run", str(tmp_path / "own.py"))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to go on"),
        (OSError(28, "No space left on device"), 1, "the disk is full"),
        (PermissionError(13, "Permission denied", "there"), 1, "permission denied: there"),
        (MemoryError(), 1, "out of memory"),
    ],
)
def test_what_goes_wrong_gets_its_exit_code(error, code, said, capsys, monkeypatch, tmp_path):
    def fail(folder, certificate):
        raise error

    monkeypatch.setattr("separatrix.report.certificates.keep", fail)
    assert run(["certify", "pooling/theorem-4.2", "--store", str(tmp_path)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip().startswith("separatrix: ")
    assert said in err


def test_a_store_that_cannot_be_written_fails_with_1(capsys, monkeypatch, tmp_path):
    from separatrix.studies.store import StoreError

    def fail(folder, certificate):
        raise StoreError("the store x cannot be written: No space left on device")

    monkeypatch.setattr("separatrix.report.certificates.keep", fail)
    assert run(["certify", "pooling/theorem-4.2", "--store", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "separatrix: the store x cannot be written: No space left on device\n"


def test_a_closed_pipe_is_quiet():
    command = [sys.executable, "-m", "separatrix", "list", "theorems", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141

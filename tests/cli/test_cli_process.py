"""The command line as a process: streams, pipes, signals, what is imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "convexcls"]
ENV = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR", "CONVEXCLS_DEBUG")}
CSV = "x1,x2,label\n0,0,no\n1,1,no\n2,2,yes\n3,1,yes\n"


def process(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, args)], capture_output=True, encoding="utf-8", env={**ENV, **env}, timeout=60
    )


def test_results_on_stdout_and_messages_on_stderr(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    done = process("solve", tmp_path / "a.csv", "-m", "hard-margin", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["objective"] == pytest.approx(1.0)
    assert done.stderr == "target: column 'label', the last one (another: --target COLUMN)\n"


def test_a_pipe_gets_plain_text_without_trailing_blanks():
    done = process("compare", "two_points", "-s", "clarabel", "-s", "osqp")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    assert done.stderr == ""


def test_errors_and_usage(tmp_path):
    done = process("solve", tmp_path / "nope.csv")
    assert (done.returncode, done.stdout) == (2, "")
    done = process("solve")
    assert done.returncode == 2
    assert "Usage: python -m convexcls solve" in done.stderr


def test_an_encoding_that_lacks_the_letters():
    done = process("show", "two_points", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert r"\u03b2" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="POSIX pipes and signals")
@pytest.mark.parametrize("args", [("problems",), ("solve", "heart_scale", "--json")])
def test_a_reader_that_leaves_is_no_error(args):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, *args], stdout=writing, stderr=subprocess.PIPE, env=ENV, timeout=60)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "solvers"], stdout=full, stderr=subprocess.PIPE, env=ENV, timeout=60)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="POSIX pipes and signals")
def test_interruption(tmp_path):
    os.mkfifo(tmp_path / "slow.csv")
    args = [*COMMAND, "solve", str(tmp_path / "slow.csv"), "-m", "hard-margin"]
    # a job in the background ignores SIGINT, and so do its children unless they are told otherwise
    child = subprocess.Popen(
        args,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENV,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with child, (tmp_path / "slow.csv").open("w"):  # opens when the child has opened it, and is about to read
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert out == b""
    assert b"Interrupted." in err
    assert b"Traceback" not in err


def test_a_csv_through_a_pipe(tmp_path):
    done = subprocess.run(
        [*COMMAND, "solve", "/dev/stdin", "--format", "csv", "-m", "hard-margin", "-t", "label"],
        input=CSV,
        capture_output=True,
        encoding="utf-8",
        env=ENV,
        timeout=60,
    )
    if not Path("/dev/stdin").exists():
        pytest.skip("no /dev/stdin")
    assert done.returncode == 0
    assert "OPTIMAL" in done.stdout


def test_the_command_line_imports_no_heavy_package():
    code = (
        "import sys, convexcls.cli\n"
        "heavy = {'cvxpy', 'pandas', 'sklearn', 'pyarrow', 'osqp', 'clarabel'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=ENV, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")

"""What the command line does to files: it writes over no input, leaves no half of a file, and waits for no pipe."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_cli_process import COMMAND, CSV, ENV

import convexcls as cc
from convexcls import files
from convexcls.cli import main

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links, pipes and devices")
TOML = """title = "t"
derivation = "d"
data = "numbers.csv"
target = "label"
[model]
kind = "hard-margin"
[known]
verdict = "optimal"
optimum = "1"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data in it, to work in."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(CSV)
    Path("numbers.csv").write_text(CSV)
    Path("mine.toml").write_text(TOML)
    return tmp_path


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in args])


# ---- an output that is an input ------------------------------------------------------------------------------------

#: Every command that writes a file, with the ending that it wants.
WRITERS = [
    (("solve",), "--certificate", ".csv"),
    (("report",), "--output", ".html"),
    (("fit",), "--output", ".csv"),
    (("fit", "-o", "model.json"), "--certificate", ".csv"),
    (("predict", "model.json"), "--output", ".csv"),
    (("prove",), "--certificate", ".csv"),
    (("prove",), "--coq", ".csv"),
    (("separability",), "--coq", ".csv"),
    (("plot",), "--output", ".svg"),
    (("path", "--over", "C=1..2", "--points", "2"), "--plot", ".png"),
]
MODEL = ("-m", "soft-margin", "--format", "csv")


def test_every_option_that_names_a_file_is_here():
    known = {(args[0], flag) for args, flag, _ in WRITERS}
    written = {
        (name, parameter.opts[-1])
        for name, command in main.commands.items()
        for parameter in command.params
        if getattr(parameter.type, "writable", False)
    }
    assert written == known | {("referee", "--output")}  # which reads no file


@posix
@pytest.mark.parametrize("link", ["itself", "another way", "symbolic", "two symbolic", "hard"])
@pytest.mark.parametrize(("args", "flag", "ending"), WRITERS)
def test_no_command_writes_over_its_input(args, flag, ending, link, folder):
    source, output = Path(f"in{ending}"), Path(f"out{ending}")
    source.write_text(CSV)
    if link == "itself":
        output = source
    elif link == "another way":
        output = folder / "." / source
    elif link == "hard":
        output.hardlink_to(source)
    else:
        output.symlink_to(source)
    if link == "two symbolic":
        source = Path("again.csv")
        source.symlink_to(folder / output)
    model = MODEL
    if args[0] == "predict":
        cc.HardMarginSVM([[0.0, 0.0], [1.0, 1.0]], ["no", "yes"]).solve().save("model.json")
        model = ("--format", "csv")
    done = run(*args, source, *model, flag, output)
    assert done.exit_code == 2, done.output
    assert "is an input of this command" in done.output
    assert source.read_text() == CSV


def test_the_default_name_of_a_report_is_looked_at_too():
    Path("a-report.html").write_text(CSV)
    Path("a.csv").symlink_to("a-report.html")
    assert "is an input of this command" in run("report", "a.csv", "-m", "hard-margin").output
    assert Path("a-report.html").read_text() == CSV


@pytest.mark.parametrize("output", ["mine.toml", "numbers.csv"])
def test_both_files_of_a_problem_are_inputs(output):
    before = Path(output).read_text()
    done = run("solve", "mine.toml", "--certificate", output)
    assert (done.exit_code, Path(output).read_text()) == (2, before)
    assert "is an input of this command" in done.output
    assert run("solve", "mine.toml", "--certificate", "data.csv").exit_code == 0  # nothing reads this one


# ---- whole or not at all -------------------------------------------------------------------------------------------


@posix
def test_what_was_there_keeps_its_permissions_and_its_link(folder):
    os.umask(umask := os.umask(0))
    Path("new.json").touch()
    target, link = Path("kept.json"), Path("link.json")
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("kept.json")
    files.write_file(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)
    files.write_file(Path("fresh.json"), b"bytes")
    assert Path("fresh.json").stat().st_mode & 0o777 == 0o666 & ~umask
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there(failing, monkeypatch, folder):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    Path("proof.json").write_text("old")
    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    done = run("solve", "data.csv", "-m", "hard-margin", "--certificate", "proof.json")
    assert done.exit_code == 2
    assert "proof.json: No space left on device" in done.output
    with pytest.raises(OSError, match="page"):
        cc.load("two_points").solve().report("page.html", compare=False, pictures=False)
    assert Path("proof.json").read_text() == "old"
    assert sorted(os.listdir(folder)) == ["data.csv", "mine.toml", "numbers.csv", "proof.json"]


@posix
def test_a_limit_on_the_size_of_files_leaves_what_was_there(folder):
    Path("page.html").write_text("old")
    command = "ulimit -f 1; trap '' XFSZ; exec \"$@\""
    report = [*COMMAND, "report", "data.csv", "-m", "hard-margin", "-o", "page.html", "--no-compare", "--no-pictures"]
    done = subprocess.run(["sh", "-c", command, "sh", *report], capture_output=True, text=True, env=ENV, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "page.html: File too large" in done.stderr
    assert Path("page.html").read_text() == "old"
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


# ---- devices and pipes ---------------------------------------------------------------------------------------------

SOLVE = (*COMMAND, "solve", "data.csv", "-m", "hard-margin", "-t", "label")


def process(*args: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(args, encoding="utf-8", env=ENV, timeout=60, stderr=subprocess.PIPE, **more)


@posix
def test_a_certificate_to_stdout_and_to_nowhere():
    done = process(*SOLVE, "--certificate", "/dev/stdout", stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert "OPTIMAL" in done.stdout
    assert '"verdict": "optimal"' in done.stdout
    with open("both.txt", "w") as both:
        done = process(*SOLVE, "--certificate", "/dev/stdout", stdout=both)
    assert done.returncode == 0, done.stderr
    text = Path("both.txt").read_text()
    assert text.index("OPTIMAL") < text.index('"verdict": "optimal"')
    assert run(*SOLVE[3:], "--certificate", "/dev/null").exit_code == 0
    assert not Path("/dev/null").is_file()


@posix
def test_a_certificate_into_a_pipe():
    os.mkfifo("pipe")
    taken: list[str] = []
    reader = threading.Thread(target=lambda: taken.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert run(*SOLVE[3:], "--certificate", "pipe").exit_code == 0
    reader.join(10)
    assert '"verdict": "optimal"' in taken[0]
    assert Path("pipe").is_fifo()


@posix
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.svm", "pipe.parquet", "pipe.toml"])
def test_a_pipe_without_a_writer_is_refused(name, monkeypatch):
    monkeypatch.setattr(files, "MAX_WAIT_SECONDS", 0.1)
    os.mkfifo(name)
    for command in (["solve", "-m", "hard-margin"], ["separability"]):
        arguments = command[:1] if name.endswith("toml") else command
        done = run(*arguments, name)
        assert done.exit_code == 2, done.output
        assert "pipe" in done.output or "not a regular file" in done.output
    assert run("verify", name, "data.csv").exit_code == 2


@posix
@pytest.mark.parametrize("wait", [0.0, 0.3])
def test_a_pipe_whose_writer_takes_its_time_is_read(wait, monkeypatch):
    monkeypatch.setattr(files, "MAX_WAIT_SECONDS", 0.1)
    os.mkfifo("slow.csv")
    reading = os.open("slow.csv", os.O_RDONLY | os.O_NONBLOCK)  # lets the writer in
    with open("slow.csv", "w") as writer:
        timer = threading.Timer(wait, lambda: (writer.write(CSV), writer.close()))
        timer.start()
        done = run("solve", "slow.csv", "-m", "hard-margin")
        timer.join()
    os.close(reading)
    assert done.exit_code == 0, done.output


@posix
@pytest.mark.parametrize(("form", "text"), [("csv", CSV), ("svmlight", "-1 1:0\n-1 1:1\n+1 1:2\n")])
def test_stdin_is_read_once(form, text):
    command = [*COMMAND, "separability", "/dev/stdin", "--format", form]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENV) as child:
        out, _ = child.communicate(text, timeout=60)
    assert child.returncode == 0
    assert "STRICTLY SEPARABLE" in out

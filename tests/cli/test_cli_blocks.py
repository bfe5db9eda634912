"""Data that do not fit, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from convexcls.cli import exit_code, main

pytest.importorskip("pyarrow")


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(4)
    for k in range(3):
        X = rng.normal(size=(40, 2))
        lines = [f"{a!r},{b!r},{'ill' if a + b > 0 else 'well'}" for a, b in X.tolist()]
        (tmp_path / f"part-{k}.csv").write_text("a,b,state\n" + "\n".join(lines) + "\n")
    return f"{tmp_path}/part-*.csv"


def run(*arguments):
    runner = CliRunner()
    outcome = runner.invoke(main, [str(a) for a in arguments], standalone_mode=False)
    if outcome.exception is not None:
        return exit_code(lambda: (_ for _ in ()).throw(outcome.exception)), outcome
    return outcome.return_value, outcome


def solved(files, *more):
    code, outcome = run("solve", files, "--model", "logistic", "-p", "l2=1", "--target", "state", "--json", *more)
    assert code == 0, outcome.output
    return json.loads(outcome.stdout)


def test_solving_by_block(files):
    """The same answer, read by block and as a whole."""
    whole, blocks = solved(files), solved(files, "--hold", "1MB")
    assert blocks["status"] == whole["status"] == "optimal"
    assert blocks["objective"] == pytest.approx(whole["objective"], rel=1e-12)
    assert blocks["coef"] == pytest.approx(whole["coef"], rel=1e-9)


def test_conversion(files, tmp_path):
    code, outcome = run("blocks", "convert", files, tmp_path / "fast", "--target", "state")
    assert code == 0, outcome.output
    assert "3 blocks written to" in outcome.stdout
    assert "times faster" in outcome.stderr
    labels = tmp_path / "fast" / "labels.npy"
    code, outcome = run("solve", tmp_path / "fast" / "X-*.npy", "-m", "hard-margin", "--target", labels, "--hold", "0")
    assert code == 0
    assert "optimal" in outcome.stdout.lower()


def test_verification(files, tmp_path):
    """A certificate of samples by block, on blocks and on the table as a whole; refused where a cell differs."""
    proof = tmp_path / "proof.json"
    solved(files, "--hold", "1MB", "--certificate", proof)
    for how in (("--hold", "0"), ()):
        code, outcome = run("verify", proof, files, "--target", "state", *how)
        assert code == 0, outcome.output
        assert outcome.stdout.startswith("ACCEPTED")
    path = tmp_path / "part-2.csv"
    path.write_text(path.read_text().replace("0.", "0.1", 1))
    code, outcome = run("verify", proof, files, "--target", "state", "--hold", "0")
    assert code == 1
    assert "digests differ" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", "2", "--cluster", "tcp://a:1"), "--workers and --cluster: say one or the other"),
        (("--hold", "1GB", "--missing", "drop"), "--missing is for data that are read as a whole"),
        (("--hold", "much"), "hold is 'much'"),
        (("--hold", "1GB", "--target", "age"), "no column 'age'"),
    ],
)
def test_what_does_not_go_together(files, arguments, said, capsys):
    code, outcome = run("solve", files, "--model", "logistic", "--target", "state", *arguments)
    assert code == 2
    assert said in outcome.output + capsys.readouterr().err

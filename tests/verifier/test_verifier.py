"""The stand-alone verifier: it shares nothing with the package, agrees with it, and accepts only what is proved."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from datasets import every_model, overlapping
from stand_alone import (
    KINDS,
    SCRIPT,
    alone,
    changed,
    is_true,
    mutated_problems,
    mutations,
    plain,
    stand_alone,
    texts,
)

import convexcls as cc
from convexcls import gallery
from convexcls.data import check_data
from convexcls.proofs.portable import data_digest
from convexcls.proofs.portable.text_digest import text_digest

# ---- the file itself ----------------------------------------------------------------------------------------


def test_it_is_one_short_file_that_needs_only_the_standard_library():
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 350
    nodes = list(ast.walk(ast.parse(source)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert modules <= set(sys.stdlib_module_names)
    assert not {"exec", "eval", "compile"} & {node.id for node in nodes if isinstance(node, ast.Name)}


def test_both_have_the_same_digest():
    rng = random.Random(5)
    for _ in range(40):
        n, d = rng.randint(2, 6), rng.randint(1, 4)
        cells = ["0", "1", "-2.50", "0.1", "1e-3", ".5", "3.", "-0.0", "12345678901234567890.1", "1e300", "2e-300"]
        rows = [[rng.choice(cells) for _ in range(d)] for _ in range(n)]
        labels = (
            ["no", *rng.choices(["no", "yes ü", "no"], k=n - 2), "yes ü"]
            if rng.random() < 0.5
            else [1.5, *[2] * (n - 1)]
        )
        weights = rng.choice([None, [rng.choice([0.1, 1.0, 3.0]) for _ in range(n)]])
        data = check_data([[Decimal(cell) for cell in row] for row in rows], labels, weights)
        table = [[alone.exactly(cell) for cell in row] for row in rows]
        same_digests(table, labels, weights or [1.0] * n, False, data)
        reals = [float(rng.choice(cells)) for _ in range(n)]
        doubles = check_data([[float(cell) for cell in row] for row in rows], reals, weights, real_target=True)
        table = [[alone.exactly(cell, rounded=True) for cell in row] for row in rows]
        targets = [Fraction(v) for v in doubles.target.tolist()]
        same_digests(table, targets, weights or [1.0] * n, True, doubles)


def same_digests(table, targets, weights, real, data):
    """The one that is written, and that of older files."""
    assert alone.digest(table, targets, weights, real) == data_digest(data)
    assert alone.text_digest(table, targets, weights) == text_digest(data)


# ---- both verifiers on what convexcls writes ---------------------------------------------------------------


def agree(problem, levels=("float", "exact")):
    """Both accept, with bounds that both contain the optimum: each lies within the other's tolerance."""
    X, y, weights = plain(problem)
    for text in texts(problem, levels):
        ours = cc.verify(text, problem.data.samples, problem.data.given, weights)
        accepted, words, lower, upper = stand_alone(text, X, y, weights)
        assert accepted, words
        assert ours.accepted, ours.reasons
        if lower is not None:
            assert max(lower, ours.lower) <= min(upper, ours.upper)


OURS = [name for name, problem in every_model().items() if problem.kind in KINDS]


@pytest.mark.parametrize("name", OURS)
def test_both_accept_every_model(name):
    agree(every_model()[name])


@pytest.mark.parametrize("name", [n for n in gallery.entries() if gallery.entry(n).problem.kind in KINDS])
def test_both_accept_the_gallery(name):
    entry = gallery.entry(name)
    agree(entry.problem)
    text = next(texts(entry.problem, ("exact",)), None)
    if text is not None and entry.known.optimum is not None and entry.known.optimum.exact:
        assert stand_alone(text, *plain(entry.problem))[2:] == (entry.known.optimum.value,) * 2


def random_problems(seed: int):
    """Small problems of every kind on doubles and on integers, with repeated rows, weights and large scales."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = (
        rng.integers(-3, 4, size=(n, d)).astype(float)
        if seed % 2
        else rng.normal(size=(n, d)) * 10.0 ** rng.integers(-20, 20)
    )
    y = np.where(np.arange(n) < 2, np.arange(n), rng.integers(0, 2, size=n))
    weights = rng.choice([0.1, 1.0, 3.0], size=n)
    intercept = bool(rng.integers(2))
    yield cc.HardMarginSVM(X, y, intercept=intercept)
    yield cc.HardMarginSVM(np.column_stack([X, 5.0 * y - 2.5]), y)
    yield cc.SoftMarginSVM(X, y, C=0.3, intercept=intercept, sample_weight=weights)
    yield cc.SoftMarginSVM(X, y, C=2.0, loss="squared_hinge", intercept=intercept, sample_weight=weights)
    yield cc.LeastSquares(X, y, l2=0.25 * (seed % 3), intercept=intercept, sample_weight=weights)
    yield cc.LeastSquares(X, X[:, 0] + rng.normal(size=n), coding="real", intercept=intercept)
    yield cc.LeastAbsolute(X, y, coding="01", intercept=intercept, sample_weight=weights)
    yield cc.PerceptronCriterion(X, y, intercept=intercept, sample_weight=weights)


@pytest.mark.parametrize("seed", range(6))
def test_both_agree_on_random_problems(seed):
    for problem in random_problems(seed):
        X, y, weights = plain(problem)
        for text in texts(problem):
            ours = cc.verify(text, problem.data.samples, problem.data.given, weights)
            accepted, words, *bounds = stand_alone(text, X, y, weights)
            assert accepted == ours.accepted, (words, ours.reasons)
            if json.loads(text)["verdict"] != "undecided":
                assert accepted, (problem, words)
            if accepted and bounds[0] is not None:
                assert max(bounds[0], ours.lower) <= min(bounds[1], ours.upper)


# ---- wrong certificates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(7))
def test_no_mutated_certificate_is_accepted_unless_its_claim_is_true(place):
    """Both verifiers, both levels. What is accepted must be true by an independent oracle; and hardly anything is."""
    problem = list(mutated_problems())[place]
    X, y, _ = plain(problem)
    signs = [int(s) for s in problem.data.signs]
    seen = accepted = 0
    for original in texts(problem):
        assert is_true(json.loads(original), X, signs)
        for inner in mutations(json.loads(original)):
            text = json.dumps(inner)
            ours, theirs = cc.verify(text, X, y).accepted, stand_alone(text, X, y)[0]
            seen += 1
            if ours or theirs:
                accepted += 1
                assert is_true(inner, X, signs), text
    assert seen > 50
    assert accepted < seen / 3


def test_a_point_that_is_not_the_solution_is_not_exact():
    """A multiple of the point would be: the point has to be it, at the level float within the tolerance."""
    X, y = [[-1.0], [1.0]], ["a", "b"]
    for original in texts(cc.SoftMarginSVM(X, y, C=1.0)):
        inner = json.loads(original)
        assert stand_alone(original, X, y)[0]
        inner["point"]["coef"] = ["9999999/10000000"]
        for tolerance in ("1e-8", "1e-12"):
            text = json.dumps(inner | {"tolerance": tolerance})
            assert not stand_alone(text, X, y)[0]
            assert not cc.verify(text, X, y)
        inner["parameters"]["C"] = "1e300"
        assert not stand_alone(json.dumps(inner), X, y)[0]


def test_costs_beyond_the_range_of_doubles_are_refused():
    X, y, weights = [[-1.0], [1.0]], ["a", "b"], [1e10, 2.0]
    inner = json.loads(cc.SoftMarginSVM(X, y, C=1.0, sample_weight=weights).solve().certificate.to_json())
    inner["parameters"]["C"] = "1e308"
    assert stand_alone(json.dumps(inner), X, y, weights)[-1] == 2
    assert not cc.verify(json.dumps(inner), X, y, weights)


# ---- as a program -------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text(
        "a,b,count,label\n0.1,0.7,1,no\n0.4,0.3,2,yes\n\n-0.2,1.1,1,no\n0.9,-0.3,1.5,yes\n", encoding="utf-8"
    )
    X = [[Decimal(a), Decimal(b)] for a, b in (("0.1", "0.7"), ("0.4", "0.3"), ("-0.2", "1.1"), ("0.9", "-0.3"))]
    proof = tmp_path / "proof.json"
    problem = cc.SoftMarginSVM(X, ["no", "yes", "no", "yes"], C=0.3, sample_weight=[1, 2, 1, 1.5])
    proof.write_text(list(texts(problem))[1], encoding="utf-8")
    return proof, table


def test_it_runs_without_the_package(files):
    proof, table = files
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(proof), str(table), "--weight", "count"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ACCEPTED: optimal, and the optimum is exactly ")


def test_exit_codes_and_words(files, tmp_path, capsys):
    proof, table = files

    def run(*arguments):
        code = alone.main([str(a) for a in arguments])
        return code, capsys.readouterr().out

    good = (proof, table, "--weight", "count", "--target", "label", "--features", "a,b")
    assert run(*good)[0] == 0
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("0.9", "0.8"))
    shorter = tmp_path / "shorter.csv"
    shorter.write_text(table.read_text().rsplit("\n", 2)[0])
    broken = tmp_path / "broken.json"
    broken.write_text(proof.read_text() + "}")
    worse = tmp_path / "worse.json"
    worse.write_text(json.dumps(json.loads(proof.read_text()) | {"multipliers": {"margin": {}}}))
    for arguments, code, said in (
        ((proof, other, "--weight", "count"), 1, "REFUSED: the data are not those"),
        ((proof, shorter, "--weight", "count"), 1, "REFUSED: the certificate speaks of another number"),
        ((worse, table, "--weight", "count"), 1, "REFUSED: point and multipliers"),
        ((broken, table), 2, "not JSON"),
        ((proof, tmp_path / "none.csv"), 2, "NOT READABLE"),
        ((tmp_path / "none.json", table), 2, "NOT READABLE"),
        ((proof, table, "--target", "x"), 2, "no such column"),
        ((proof, proof), 2, "NOT READABLE"),
    ):
        found = run(*arguments)
        assert found[0] == code, found
        assert said in found[1]
    with pytest.raises(SystemExit) as left:
        alone.main(["--help"])
    assert left.value.code == 0
    assert "--target" in capsys.readouterr().out


def test_overlapping_classes_have_no_hard_margin_and_both_say_so():
    X, y = overlapping(12, 2, seed=3)
    certificate = cc.HardMarginSVM(X, y).solve().certificate
    assert certificate.status == "infeasible"
    text = certificate.to_json()
    assert stand_alone(text, X.tolist(), y.tolist())[0]
    assert cc.verify(text, X, y)
    inner = json.loads(text)
    rows = inner["farkas"]["margin"]
    first = next(iter(rows))
    for value in ("0", "-1", str(alone.numbers([rows[first]])[0] * Fraction(10**20 + 1, 10**20))):
        worse = json.dumps(changed(inner, ("farkas", "margin", first), value))
        assert not stand_alone(worse, X.tolist(), y.tolist())[0]
        assert not cc.verify(worse, X, y)

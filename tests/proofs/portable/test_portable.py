"""Certificates as files: written, read back, and verified from nothing but the data."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import exact as oracle
import numpy as np
import pytest
from datasets import SEPARABLE, every_model, overlapping
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls import gallery
from convexcls.data import check_data
from convexcls.problem import NoAnswer
from convexcls.proofs.claims.rational_bounds import true_bounds
from convexcls.proofs.exact.prove import prove
from convexcls.proofs.portable import CertificateError, certificate_dict, data_digest, parse
from convexcls.proofs.portable.text_digest import text_digest

MODELS = every_model()


def data_of(problem):
    """X, y and weights of a model, in the form in which ``verify`` takes them."""
    data = problem.data
    return data.samples, data.given, data.weights if data.weighted else None


def exact_text(problem) -> str:
    solution = problem.solve()
    proof = prove(problem, solution.x, solution.multipliers)
    return replace(solution.certificate, level="exact", exact=proof).to_json()


# ---- the digest -----------------------------------------------------------------------------------------


def digest(X, y, weights=None, **how) -> str:
    return data_digest(check_data(X, y, weights, **how))


def test_the_digest_is_of_values_not_of_their_container():
    X = np.array([[0.5, 0.0, -3.0], [0.0, -0.0, 2.0**-1074], [1e300, 7.0, 0.1]])
    y = [0, 1, 1]
    known = digest(X, y)
    alike = [
        X.tolist(),
        np.asfortranarray(X),
        sparse.csr_array(X),
        sparse.csc_array(X),
        sparse.coo_array(X),
        [[Fraction(v) for v in row] for row in X.tolist()],
        [[Decimal(v) for v in row] for row in X.tolist()],
    ]
    for other in alike:
        assert digest(other, y) == known
    for labels in (np.array(y), [0.0, 1.0, 1.0], ["0", "1", "1"], [Fraction(0), Fraction(1), Fraction(1)]):
        assert digest(X, labels) == known
    assert digest(X, y, [1, 1, 1]) == known  # weights of one are none
    assert digest(np.array([[1, 2], [3, 4]]), ["a", "b"]) == digest(
        np.array([[1, 2], [3, 4]], dtype=np.float32), ["a", "b"]
    )


def test_the_digest_tells_values_apart():
    X, y, weights = np.array([[0.5, 1.0], [2.0, 0.25], [3.0, 4.0]]), [0, 1, 1], [1.0, 2.0, 1.0]
    seen = {digest(X, y, weights), digest(X, y), digest(X, [1, 0, 1], weights), digest(X, ["0x", "1", "1"], weights)}
    seen.add(digest(X, [0, 1, 1], weights, real_target=True))
    seen.add(digest(X.T[:, :2], y[:2]))
    for i in range(3):
        for j in range(2):
            other = X.copy()
            other[i, j] = np.nextafter(other[i, j], 9.0)
            seen.add(digest(other, y, weights))
        heavier = [*weights[:i], weights[i] + 0.5, *weights[i + 1 :]]
        seen.add(digest(X, y, heavier))
    seen.add(digest([[Decimal("0.1"), 1], [2, 3], [4, 5]], y))
    seen.add(digest([[0.1, 1], [2, 3], [4, 5]], y))  # the double 0.1 is not 1/10
    assert len(seen) == 6 + 9 + 2


@pytest.mark.parametrize("labels", [["1", "1", "1.0", "1.0"], [" a", "a", "a", " a"], ["1e1", "10", "10", "1e1"]])
def test_labels_that_a_file_does_not_tell_apart_are_refused(labels):
    """Else the same digest would stand for other data: those with the labels changed about."""
    X = [[0.0, 1.0], [2.0, 3.0], [1.0, 5.0], [4.0, 1.0]]
    solution = cc.SoftMarginSVM(X, labels).solve()
    with pytest.raises(NoAnswer, match="rename one of them"):
        solution.certificate.to_json()
    other = cc.SoftMarginSVM(X, [0, 1, 1, 0]).solve().certificate.to_json()
    assert "rename one of them" in cc.verify(other, X, labels).reasons[0]


def test_the_digest_of_older_files_is_what_the_format_says():
    import hashlib

    X = [[Fraction(1, 3), 0.5], [0, 2]]
    text = 'convexcls-data/1 2 2 weighted\n"no" 0x1.0000000000000p+0 0:1/3 1:0x1.0000000000000p-1\n'
    text += '"yes" 0x1.8000000000000p+1 1:0x1.0000000000000p+1\n'
    assert text_digest(check_data(X, ["no", "yes"], [1, 3])) == hashlib.sha256(text.encode()).hexdigest()


# ---- what is written is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_model_writes_a_certificate_that_is_accepted(name):
    problem = MODELS[name]
    solution = problem.solve()
    found = cc.verify(solution.certificate, *data_of(problem))
    assert found.accepted, found.reasons
    assert "ACCEPTED" in found.explain()
    if found.lower is not None:
        scale = max(abs(solution.objective), problem.unit)
        assert found.lower - 1e-9 * scale <= solution.objective <= found.upper + 1e-9 * scale
    else:
        assert name.startswith("gaussian")


EXACT = [n for n, p in MODELS.items() if p.is_quadratic_program and p.kind != "kernel"]


@pytest.mark.parametrize("name", EXACT)
def test_exact_certificates_are_accepted_with_their_rational_optimum(name):
    problem = MODELS[name]
    text = exact_text(problem)
    found = cc.verify(text, *data_of(problem))
    assert found.accepted, found.reasons
    assert found.lower == found.upper == parse(text).claim["optimum"]
    assert float(found.lower) == pytest.approx(problem.solve().objective, rel=1e-9)


@pytest.mark.parametrize("name", gallery.entries())
def test_certificates_of_the_gallery(name):
    entry = gallery.entry(name)
    certificate = entry.problem.solve().certificate
    found = cc.verify(certificate.to_json(), *data_of(entry.problem))
    assert found.accepted, found.reasons
    if entry.known.verdict == "optimal" and found.lower is not None:
        room = Fraction(1, 10**10) * max(abs(entry.known.optimum.value), Fraction(entry.problem.unit))
        slop = 0 if entry.known.optimum.exact else room
        assert found.lower - slop <= entry.known.optimum.value <= found.upper + slop


def test_a_certificate_is_taken_as_object_text_or_path(tmp_path):
    problem = cc.HardMarginSVM(*SEPARABLE)
    certificate = problem.solve().certificate
    path = tmp_path / "proof.json"
    path.write_text(certificate.to_json())
    for form in (certificate, certificate.to_json(), path, str(path)):
        assert cc.verify(form, *SEPARABLE)
    with pytest.raises(TypeError, match="not int"):
        cc.verify(7, *SEPARABLE)
    with pytest.raises(OSError):
        cc.verify(tmp_path / "none.json", *SEPARABLE)


def test_sparse_data_and_decimals_verify_alike():
    X, y = SEPARABLE
    text = cc.HardMarginSVM(X, y).solve().certificate.to_json()
    decimals = [[Decimal(v) for v in row] for row in X.tolist()]
    for other in (sparse.csr_array(X), sparse.csc_array(X), decimals, X.tolist()):
        found = cc.verify(text, other, y)
        assert found.accepted
        assert found.lower <= Fraction(10, 9) <= found.upper


def test_decimals_are_proved_as_they_are_written():
    X = [[Decimal("0.1")], [Decimal("0.3")]]
    text = exact_text(cc.HardMarginSVM(X, [0, 1]))
    found = cc.verify(text, X, [0, 1])
    assert found.lower == found.upper == 50  # 1/2 (2 / 0.2)^2, which doubles miss
    assert not cc.verify(text, [[0.1], [0.3]], [0, 1])


def test_infeasible_and_unattained_are_proved_in_rationals():
    square = np.array([[0.1, 0.1], [0.3, 0.3], [0.1, 0.3], [0.3, 0.1]])
    infeasible = cc.HardMarginSVM(square, [0, 0, 1, 1]).solve().certificate
    assert infeasible.status == "infeasible"
    found = cc.verify(infeasible, square, [0, 0, 1, 1])
    assert found.accepted, found.reasons
    assert "infeasible" in found.explain()
    X, y = [[1.0, 0.1], [2.0, 0.1], [3.0, 0.7], [4.0, -0.2]], [0, 0, 1, 1]
    for model in (cc.LogisticMLE, cc.SoftmaxMLE):
        certificate = model(X, y).solve().certificate
        assert certificate.status == "unattained"
        found = cc.verify(certificate, X, y)
        assert found.accepted, found.reasons
        assert "falls for ever" in found.explain()


def test_undecided_certificates_claim_nothing():
    certificate = cc.SoftMarginSVM(*overlapping()).solve(solver="osqp", max_iter=1).certificate
    assert certificate.status == "undecided"
    found = cc.verify(certificate, *overlapping())
    assert not found.accepted
    assert "claims nothing" in found.explain()


def test_rigorous_bounds_must_be_implied():
    problem = cc.SoftMarginSVM(*overlapping(), C=0.7)
    certificate = problem.solve().certificate
    inner = json.loads(certificate.to_json())
    true = cc.verify(certificate, *overlapping())
    for low, high, accepted in ((1, 1, True), (-1, 1, False), (1, -1, False), (10**9, 10**9, False)):
        room = Fraction(1, 10**12)
        inner["claim"] = {"lower": str(true.lower - low * room), "upper": str(true.upper + high * room)}
        inner["level"] = "rigorous"
        assert cc.verify(json.dumps(inner), *overlapping()).accepted == accepted


# ---- what cannot be written, and what is refused ----------------------------------------------------------------


def test_what_a_file_cannot_name_is_not_written():
    X, y = SEPARABLE
    with pytest.raises(NoAnswer, match="primal"):
        cc.HardMarginSVM(X, y).dual().solve().certificate.to_json()
    with pytest.raises(NoAnswer, match="of your own"):
        cc.KernelSVM(X, y, kernel=lambda a, b: a @ b.T).solve().certificate.to_json()
    bound = cc.Constraint("small", {"coef": np.eye(2)}, rhs=1.0)
    with pytest.raises(NoAnswer, match="of your own"):
        cc.EmpiricalRisk(X, y, loss="hinge", l2=1.0, constraints=[bound]).solve().certificate.to_json()


def test_other_data_are_refused():
    X, y = overlapping()
    weights = 0.5 + np.arange(len(y)) % 3
    text = cc.SoftMarginSVM(X, y, C=0.7, sample_weight=weights).solve().certificate.to_json()
    assert cc.verify(text, X, y, weights)
    moved = X.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], 1.0)
    swapped = np.array(y)
    swapped[[0, 1]] = swapped[[1, 0]]
    cases = [
        (moved, y, weights, "digests"),
        (X, swapped, weights, "digests"),
        (X[::-1], y[::-1], weights[::-1], "digests"),
        (X, y, None, "with weights"),
        (X, y, weights[::-1], "digests"),
        (X[:-1], y[:-1], weights[:-1], "samples"),
        (X[:, :2], y, weights, "features"),
        (X, np.where(y, "b", "a"), weights, "labels"),
    ]
    for A, b, w, why in cases:
        found = cc.verify(text, A, b, w)
        assert not found.accepted
        assert why in found.reasons[0]
    with pytest.raises(cc.DataError):
        cc.verify(text, [[np.nan]], [0])


def test_a_point_that_only_looks_optimal_is_no_proof_of_a_minimum():
    """Far out along a separating direction every residual vanishes, and no minimiser exists."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    inner = certificate_dict(cc.LogisticMLE(X, y, l2=1.0).solve().certificate)
    inner["parameters"]["l2"] = "0.0"
    inner["point"] = {"coef": ["40.0"], "intercept": ["0.0"]}
    inner["claim"] = {"lower": "0.0", "upper": "4e-18"}
    found = cc.verify(json.dumps(inner), X, y)
    assert not found.accepted
    assert "a minimum exists" in found.reasons[0]


# ---- the bounds hold whatever the numbers are ---------------------------------------------------------------------


small = st.integers(-3, 3)
numbers = st.fractions(-4, 4, max_denominator=8)


@st.composite
def guesses(draw):
    """Two classes of integers, weights, and a point and multipliers that have nothing to do with them."""
    n, d = draw(st.integers(3, 5)), draw(st.integers(1, 2))
    X = [[draw(small) for _ in range(d)] for _ in range(n)]
    y = [0, 1, *(draw(st.integers(0, 1)) for _ in range(n - 2))]
    weights = [draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in range(n)]
    point = {"coef": [draw(numbers) for _ in range(d)], "intercept": [draw(numbers)]}
    rows = [{i: draw(numbers) for i in range(n)} for _ in range(2)]
    return X, y, weights, point, rows, draw(numbers)


def contains(problem, point, multipliers, optimum):
    low, high, _ = true_bounds(problem, point, multipliers)
    assert low is None or low <= optimum
    assert high is None or optimum <= high


@settings(max_examples=30)
@given(guesses())
def test_bounds_hold_for_any_numbers(guess):
    X, y, weights, point, (first, second), nu = guess
    signs = [2 * label - 1 for label in y]
    if (hard := oracle.hard_margin(X, signs)) is not None:
        contains(cc.HardMarginSVM(X, y), point, {"margin": first}, hard[0])
    for loss in ("hinge", "squared_hinge"):
        optimum = oracle.soft_margin(X, signs, 0.5, loss, True, weights)[0]
        contains(cc.SoftMarginSVM(X, y, C=0.5, loss=loss, sample_weight=weights), point, {"margin": first}, optimum)
    optimum = oracle.least_absolute(X, signs, True, weights)
    both = {"residual_above": first, "residual_below": second}
    contains(cc.LeastAbsolute(X, y, sample_weight=weights), point, both, optimum)
    optimum = oracle.least_squares(X, signs, 0.5, True, weights)[0]
    contains(cc.LeastSquares(X, y, l2=0.5, sample_weight=weights), point, {}, optimum)
    if (optimum := oracle.perceptron(X, signs, True, weights)) is not None:
        given_rows = {"margin": first, "normalization": {0: nu}}
        contains(cc.PerceptronCriterion(X, y, sample_weight=weights), point, given_rows, optimum)


# ---- the command line -------------------------------------------------------------------------------------------


def run(*arguments):
    from click.testing import CliRunner

    from convexcls.cli import main

    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def files(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("a,b,count,label\n0.1,0.7,1,no\n0.4,0.3,2,yes\n-0.2,1.1,1,no\n0.9,-0.3,1.5,yes\n")
    proof = tmp_path / "proof.json"
    found = run("solve", table, "-m", "soft-margin", "-p", "C=0.3", "-w", "count", "--certificate", proof)
    assert found.exit_code == 0, found.output
    return table, proof


def test_verify_on_the_command_line(files):
    table, proof = files
    found = run("verify", proof, table, "-w", "count")
    assert found.exit_code == 0
    assert "ACCEPTED. The soft-margin problem on these data (4 samples) is solved" in found.stdout
    other = Path(table).with_name("other.csv")
    other.write_text(Path(table).read_text().replace("0.9", "0.8"))
    for name, flags, said in (
        (other, ("-w", "count"), "digests differ"),
        (table, ("-f", "a,b"), "with weights"),
        (table, ("-w", "count", "-f", "a"), "features"),
    ):
        found = run("verify", proof, name, *flags)
        assert found.exit_code == 1
        assert said in found.stdout


def test_verify_says_what_it_cannot_read(files, tmp_path):
    table, proof = files
    broken = tmp_path / "broken.json"
    broken.write_text(Path(proof).read_text().replace('"level"', '"levle"'))
    for arguments, said in (
        ((tmp_path / "none.json", table), "No such file"),
        ((broken, table), "unknown field 'levle'"),
        ((proof, tmp_path / "none.csv"), "there is no file"),
        ((proof, table, "--target", "lable"), "did you mean 'label'"),
    ):
        found = run("verify", *arguments)
        assert found.exit_code == 2
        assert said in found.stderr
    assert "Exit codes: 0 accepted, 1 refused" in run("verify", "--help").stdout


def test_certificates_of_text_taken_exactly_and_of_doubles_both_verify_against_the_file(files, tmp_path):
    table, _ = files
    rows = [[Decimal(a), Decimal(b)] for a, b in (("0.1", "0.7"), ("0.4", "0.3"), ("-0.2", "1.1"), ("0.9", "-0.3"))]
    y, weights = ["no", "yes", "no", "yes"], [1, 2, 1, 1.5]
    proof = tmp_path / "exact.json"
    for X, said in ((rows, ""), (np.array(rows, dtype=float), "rounded to doubles")):
        proof.write_text(exact_text(cc.SoftMarginSVM(X, y, C=0.3, sample_weight=weights)))
        found = run("verify", proof, table, "-w", "count")
        assert found.exit_code == 0, found.output
        assert "exactly" in found.stdout
        assert said in found.stderr


def test_parse_gives_rationals_and_keeps_nothing_that_is_zero():
    inner = certificate_dict(cc.HardMarginSVM(*SEPARABLE).solve().certificate)
    inner["multipliers"]["margin"] = {"0": "1/3", "2": "0", "4": "0.25"}
    found = parse(json.dumps(inner))
    assert found.multipliers == {"margin": {0: Fraction(1, 3), 4: Fraction(1, 4)}}
    with pytest.raises(CertificateError, match="bare number"):
        parse(json.dumps(inner | {"tolerance": 1e-8}))

"""Exact solutions against numbers that were worked out elsewhere: certified digits, rational optima, the gallery."""

from __future__ import annotations

import csv
import json
import time
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import convexcls as cc
from convexcls import gallery
from convexcls.proofs.claims.optimum import check
from convexcls.proofs.claims.statement import NoProof
from convexcls.proofs.exact.prove import prove

DATA = Path(__file__).parents[1] / "files"
PROBLEMS = gallery.directory()
SVM = json.loads((DATA / "exact_svm_reference.json").read_text())
NIST = json.loads((DATA / "nist_certified.json").read_text())
SETS = [name for name in NIST if name != "source"]


def decimals(name: str) -> tuple[np.ndarray, list[str]]:
    """A table of the gallery as decimal text: all columns but the last as decimals, the last as it is."""
    with (PROBLEMS / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[Decimal(cell) for cell in row[:-1]] for row in rows], dtype=object), [row[-1] for row in rows]


def proved(problem: cc.Problem):
    """The proof from the toolkit's own answer, checked, within a second."""
    answer = problem.solve()
    start = time.process_time()
    proof = prove(problem, answer.x, answer.multipliers)
    assert not check(problem, proof)
    assert time.process_time() - start < 1.0
    return proof


@pytest.mark.parametrize(
    ("name", "key", "declare"),
    [
        ("iris_setosa", "iris_setosa_vs_rest_hard", cc.HardMarginSVM),
        ("heart_scale", "heart_scale_C=1", cc.SoftMarginSVM),
    ],
)
def test_rational_optimum_of_decimal_text(name, key, declare):
    X, y = decimals(name)
    proof = proved(declare(X, y))
    known = SVM[key]
    assert proof.verdict == "optimal"
    assert proof.optimum == Fraction(known["objective_exact"])
    assert proof.gap == 0
    assert isinstance(proof.gap, Fraction)
    # coef and intercept to the digits of the reference, up to which of two labels is the positive one
    sign = 1 if float(proof.point["coef"][0]) * float(known["w"][0]) > 0 else -1
    np.testing.assert_allclose(
        [sign * float(v) for v in proof.point["coef"]], [float(v) for v in known["w"]], rtol=1e-14
    )
    assert sign * float(proof.point["intercept"][0]) == pytest.approx(float(known["b"]), rel=1e-14)
    alpha = proof.multipliers["margin"]
    free = sorted(i for i, a in alpha.items() if known["C"] is None or a < 1)
    assert free == known["free_sv"]
    assert len(alpha) - len(free) == known["bound_sv"]


@pytest.mark.parametrize("name", ["iris_setosa", "heart_scale"])
def test_doubles_are_other_data(name):
    """The doubles nearest to 0.1 and the like are other rationals: close, but not the same optimum."""
    X, y = decimals(name)
    declare = cc.HardMarginSVM if name == "iris_setosa" else cc.SoftMarginSVM
    text, doubles = proved(declare(X, y)), proved(declare(X.astype(float), y))
    assert text.optimum != doubles.optimum
    assert float(text.optimum) == pytest.approx(float(doubles.optimum), rel=1e-12)


def significant(text: str) -> int:
    """How many significant digits a certified value has."""
    digits = text.upper().partition("E")[0].replace(".", "").lstrip("+-")
    return len(digits.lstrip("0"))


def rounded(value: Fraction, digits: int) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        return Decimal(value.numerator) / Decimal(value.denominator)


def agrees(value: Fraction, certified: str) -> bool:
    """Whether a rational has all certified digits."""
    digits = significant(certified)
    return value == 0 if digits == 0 else rounded(value, digits) == Decimal(certified)


@pytest.mark.parametrize("name", SETS)
def test_every_certified_digit_of_nist(name):
    X, y = decimals(f"nist_{name}")
    proof = proved(cc.LeastSquares(X, np.array([Decimal(t) for t in y], dtype=object), coding="real"))
    known = NIST[name]
    assert len(known["coef"]) == X.shape[1]
    for value, certified in zip(proof.point["coef"], known["coef"], strict=True):
        assert significant(certified) >= 15
        assert agrees(value, certified)
    assert agrees(proof.point["intercept"][0], known["intercept"])
    assert agrees(2 * proof.optimum, known["residual_sum_of_squares"])
    assert proof.gap == 0


def test_that_the_comparison_of_digits_can_fail():
    assert agrees(Fraction(1, 3), "0.333333333333333")
    assert not agrees(Fraction(1, 3), "0.333333333333334")
    assert not agrees(Fraction(1, 10**30), "0.000000000000000")


ENTRIES = {name: gallery.entry(name) for name in gallery.entries()}
PROGRAMS = [name for name, entry in ENTRIES.items() if entry.problem.is_quadratic_program]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gallery(name):
    """Every quadratic program of the gallery, from its decimal text: the verdict, and the optimum where it is known as
    a ratio."""
    problem, known = ENTRIES[name].problem, ENTRIES[name].known
    proof = proved(problem)
    assert proof.verdict == known.verdict
    if proof.verdict == "optimal":
        assert proof.gap == 0
        optimum = -proof.optimum if problem.sense == "max" else proof.optimum
        assert known.optimum is not None
        if known.optimum.exact:
            assert optimum == known.optimum.value
        if known.coef is not None and "coef" in known.unique and all(v.exact for v in known.coef):
            assert proof.point.get("coef", []) == [v.value for v in known.coef][: len(proof.point.get("coef", []))]


def test_gallery_covers_the_programs():
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", ["logistic_table", "three_four_five_max_margin", "softmax_table"])
def test_what_is_not_rational_is_refused_with_a_reason(name):
    with pytest.raises(NoProof, match=r"not rational|no rational values"):
        prove(ENTRIES[name].problem)

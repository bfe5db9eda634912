"""Many more columns than rows: separability and what hangs on it are decided on columns that span the others."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import convexcls as cc
from convexcls.cli import main
from convexcls.proofs.separability.classes import several_class_rows, two_class_rows
from convexcls.rational import elimination
from convexcls.rows import as_rows
from convexcls.rows.spanning import spanning_columns

COLUMNS = 20_000
#: What took minutes, or did not end, takes a second or two; a machine that is busy may take longer.
PATIENCE = 60.0


def table(kind: str, n: int = 8, d: int = COLUMNS) -> object:
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, size=(n, d)) / 8.0 if kind == "eighths" else rng.normal(size=(n, d))
    if kind == "sparse":
        return sparse.csr_array(np.where(rng.random((n, d)) < 0.01, X, 0.0))
    if kind == "meeting":
        X[1] = X[0]
    if kind == "low rank":  # each sample is a combination of three others, exactly
        X = rng.integers(-3, 4, size=(n, 3)) @ np.round(8 * X[:3])
    return X


def labels(n: int = 8) -> list[int]:
    return [i % 2 for i in range(n)]


VERDICTS = {
    "eighths": "strictly separable",
    "normal": "strictly separable",
    "sparse": "strictly separable",
    "meeting": "weakly separable",
    "low rank": "overlapping",
}


@pytest.mark.parametrize("kind", VERDICTS)
def test_separability_of_wide_tables(kind):
    start = time.process_time()
    found = cc.separability(table(kind), labels())
    assert found.verdict == VERDICTS[kind]
    assert found.complaints() == []
    assert time.process_time() - start < PATIENCE


@pytest.mark.parametrize(("kind", "status"), [("normal", "unattained"), ("meeting", "unattained")])
def test_likelihoods_of_wide_tables(kind, status):
    start = time.process_time()
    assert cc.LogisticMLE(table(kind), labels()).solve().status == status
    assert time.process_time() - start < PATIENCE


@pytest.mark.parametrize(("kind", "status"), [("normal", "optimal"), ("sparse", "optimal"), ("meeting", "infeasible")])
def test_hard_margins_of_wide_tables(kind, status):
    start = time.process_time()
    assert cc.HardMarginSVM(table(kind), labels()).solve().status == status
    assert time.process_time() - start < PATIENCE


def test_the_verdict_is_that_of_all_columns():
    """Tables of few columns, and the same with many that depend on them: the verdicts agree."""
    rng = np.random.default_rng(5)
    for seed in range(20):
        X = np.random.default_rng(seed).integers(-2, 3, size=(9, 3)).astype(float)
        wide = np.column_stack([X @ rng.integers(-2, 3, size=(3, 200)), X])
        few, many = cc.separability(X, labels(9)), cc.separability(wide, labels(9))
        assert (many.verdict, many.rows_on_it.tolist()) == (few.verdict, few.rows_on_it.tolist())
        assert many.verify()


def test_columns_that_only_rationals_tell_apart():
    """The last column alone separates two samples that are equal up to it; doubles take it for nothing."""
    X = np.ones((2, 500)) * np.arange(1, 501)
    X[1, 499] = np.nextafter(500.0, 501.0)
    found = cc.separability(X, [0, 1])
    assert found.verdict == "strictly separable"
    assert found.verify()
    decimals = [[Fraction(1, 3)] * 200, [Fraction(1, 3)] * 199 + [Fraction(10**20 + 1, 3 * 10**20)]]
    assert cc.separability(decimals, [0, 1]).verdict == "strictly separable"


def test_the_columns_span_the_others():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(8, 2)) @ rng.integers(-2, 3, size=(2, 300))
    wide = spanning_columns(as_rows(X))
    assert wide is not None
    assert wide.columns.size == elimination.rank([[Fraction(int(v)) for v in row] for row in X]) == 2
    assert spanning_columns(as_rows(X[:, :90])) is None


@pytest.mark.parametrize("kind", ["dense", "sparse", "given", "sparse, several"])
def test_chosen_columns_are_those_columns(kind):
    X = np.random.default_rng(1).integers(-3, 4, size=(5, 7)) / 4
    given = [[Fraction(int(4 * v), 7) for v in row] for row in X]
    data = cc.data.check_data(
        given if kind == "given" else sparse.csr_array(X) if "sparse" in kind else X,
        [0, 1, 2, 0, 1] if "several" in kind else [0, 1, 0, 0, 1],
        several=True,
    )
    if "several" in kind:
        rows = several_class_rows(data, None, True)
    else:
        rows = two_class_rows(data, np.array([-1.0, 1, -1, -1, 1]), None, True)
    for columns in ([0, 3], [1, 6, 7], [7], list(range(rows.shape[1]))):
        some = rows.select_columns(np.array(columns))
        assert some.rational() == [[row[j] for j in columns] for row in rows.rational()]
        assert np.array_equal(some.to_dense(), rows.to_dense()[:, columns])


def test_the_rank_modulo_a_prime_is_a_lower_bound():
    rng = np.random.default_rng(2)
    for _ in range(30):
        A = rng.integers(-2, 3, size=(6, 3)) @ rng.integers(-2, 3, size=(3, 6))
        exact = [[Fraction(int(v), 6) for v in row] for row in A]
        assert elimination.rank_modulo_prime(exact) == elimination.rank(exact)
    assert elimination.rank_modulo_prime([[Fraction(elimination.PRIME)]]) == 0


def test_wide_files(tmp_path):
    """The header of 20,000 columns is read at once, and of as many coefficients it is not told what becomes of each."""
    X = table("eighths", 6)
    head = ",".join(f"x{j}" for j in range(COLUMNS)) + ",label\n"
    body = "".join(",".join(map(str, row)) + f",{i % 2}\n" for i, row in enumerate(X))
    (tmp_path / "wide.csv").write_text(head + body)
    start = time.process_time()
    for command, said in ((["separability"], "STRICTLY SEPARABLE"), (["solve", "-m", "logistic"], "UNATTAINED")):
        done = CliRunner().invoke(main, [*command, str(tmp_path / "wide.csv")])
        assert done.exit_code == 0, done.output
        assert said in done.output
    assert time.process_time() - start < PATIENCE
    with pytest.raises(cc.NoAnswer, match="20001 coefficients would take too long"):
        cc.existence(cc.LogisticMLE(X, labels(6)))
    with pytest.raises(cc.estimators.NoMaximumError, match="no maximum"):
        cc.LogisticClassifier(C=np.inf).fit(X, labels(6))

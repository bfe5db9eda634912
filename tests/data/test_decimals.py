"""Doubles as the decimals that somebody wrote: in arrays by ``as_decimals``, in tables by themselves."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.data.decimals import shortest_decimal
from convexcls.models.dependent import dependence, is_exact_as_decimals
from tests import exact

rng = np.random.default_rng(11)
CENTS = rng.integers(1, 5000, (30, 3))
LABELS = np.where(CENTS @ [1, -1, 0] + 3000 * rng.normal(size=30) > 0, "yes", "no")
TARGETS = rng.integers(-999, 1000, 30)


def cents(number: int) -> str:
    return f"{number // 100}.{number % 100:02d}" if number >= 0 else f"-{cents(-number)}"


#: The last column is the sum of the others, on paper.
WRITTEN = [[cents(v) for v in (*row, sum(row))] for row in CENTS.tolist()]
DOUBLES = np.array(WRITTEN, dtype=float)
FRACTIONS = [[Fraction(text) for text in row] for row in WRITTEN]


def table_of(tmp_path, rows, last="label", values=LABELS):
    path = tmp_path / "table.csv"
    names = [f"x{j + 1}" for j in range(len(rows[0]))]
    cells = [[*row, value] for row, value in zip(rows, values, strict=True)]
    path.write_text("\n".join(",".join(map(str, line)) for line in [[*names, last], *cells]))
    return path


@pytest.mark.parametrize("value", [0.1, -2.5, 1e300, 12345.678, 0.0, 1.6e9 + 0.25, 1e-300])
def test_the_shortest_decimal_rounds_to_the_double(value):
    assert float(shortest_decimal(value)) == value
    assert shortest_decimal(value) == Fraction(Decimal(repr(value)))


def test_a_number_below_the_normal_range_is_itself():
    assert shortest_decimal(5e-324) == Fraction(5e-324) != Fraction("5e-324")


def test_rows_and_columns_of_decimals():
    X = np.array([[0.1, 2.0, 0.3], [1e22, -0.7, 0.0]])
    for given in (cc.as_decimals(X).given, cc.as_decimals(sparse.csc_array(X)).given):
        assert given.row(0) == [Fraction(1, 10), Fraction(2), Fraction(3, 10)]
        assert given.take([1]).row(0) == [Fraction(10**22), Fraction(-7, 10), Fraction(0)]
        assert given.columns([2, 0]).row(0) == [Fraction(3, 10), Fraction(1, 10)]


def test_what_was_given_exactly_stays_so():
    third = [[Fraction(1, 3)], [Fraction(2, 3)]]
    assert cc.as_decimals(third).given.row(0) == [Fraction(1, 3)]
    assert cc.as_decimals(cc.as_decimals([[0.1]])).given.row(0) == [Fraction(1, 10)]


def test_decimals_of_an_array_are_proved_as_fractions_are():
    shown = cc.LeastSquares(cc.as_decimals(DOUBLES[:, :3]), LABELS).solve(level="exact").certificate
    assert (
        shown.optimum
        == exact.least_squares([row[:3] for row in FRACTIONS], [1 if v == "yes" else -1 for v in LABELS])[0]
    )
    assert shown.optimum != cc.LeastSquares(DOUBLES[:, :3], LABELS).solve(level="exact").certificate.optimum


MODELS = [cc.LogisticMLE, cc.LeastSquares, cc.LeastAbsolute, cc.FisherLDA, cc.SoftMarginSVM]


@pytest.mark.parametrize("model", MODELS)
def test_a_column_of_totals_in_a_file_is_decided(model, tmp_path):
    path = table_of(tmp_path, WRITTEN)
    for kept in (False, True):
        s = cc.read_table(path, exact=kept).samples("label").declare(model).solve()
        assert s.status == "optimal"
    fewer = model(DOUBLES[:, :3], LABELS).solve()
    assert s.objective == pytest.approx(fewer.objective, rel=1e-8) or model is cc.SoftMarginSVM  # penalised by column


def test_of_the_same_numbers_in_an_array_it_is_told_what_to_do():
    problem = cc.LogisticMLE(DOUBLES, LABELS)
    s = problem.solve()
    assert s.status == "undecided"
    assert "as_decimals(X)" in s.certificate.reason
    assert cc.LogisticMLE(cc.as_decimals(DOUBLES), LABELS).solve().status == "optimal"


def test_the_coefficients_are_the_shortest(tmp_path):
    s = cc.read_table(table_of(tmp_path, WRITTEN)).samples("label").declare(cc.LogisticMLE).solve()
    assert s.coef @ [1.0, 1.0, 1.0, -1.0] == pytest.approx(0.0, abs=1e-12 * np.abs(s.coef).max())
    assert "as they are written" in s.certificate.explain().replace("\n", " ")


def test_sums_that_somebody_rounded_stay_undecided(tmp_path):
    """The last column is a sum to the last digit of a double, which is more than the file says."""
    sums = DOUBLES[:, :3].sum(axis=1) / 3.0
    rows = [[*row[:3], repr(v)] for row, v in zip(WRITTEN, sums.tolist(), strict=True)]
    found = dependence(cc.LogisticMLE(np.array(rows, dtype=float), LABELS))
    assert found is not None
    assert not is_exact_as_decimals(cc.LogisticMLE(np.array(rows, dtype=float), LABELS), found)
    samples = cc.read_table(table_of(tmp_path, rows)).samples("label")
    assert not samples.X.written  # 16 digits and more: the doubles may show other ones
    s = samples.declare(cc.LogisticMLE).solve()
    assert s.status == "undecided"
    assert "as_decimals" not in s.certificate.reason


def test_real_targets_are_decimals_too(tmp_path):
    path = table_of(tmp_path, WRITTEN, "y", [cents(v) for v in TARGETS.tolist()])
    s = cc.read_table(path).samples("y", real_target=True).declare(cc.LeastSquares, coding="real").solve()
    expected = exact.least_squares([row[:3] for row in FRACTIONS], [Fraction(v, 100) for v in TARGETS.tolist()])[0]
    assert s.status == "optimal"
    assert s.problem.data.exact_reals == tuple(Fraction(v, 100) for v in TARGETS.tolist())
    assert s.certify("exact").optimum == expected


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("0.123456789012345", True),
        ("0.1234567890123456", False),
        ("1234567890.12345", True),
        ("1234567890123456e-9", False),
    ],
)
def test_only_short_numbers_are_what_doubles_show(cell, written, tmp_path):
    path = table_of(tmp_path, [["1.5"], [cell], ["2.5"]], values=["a", "b", "a"])
    assert cc.read_table(path).samples("label").X.written is written


def test_gaps_and_products_are_no_decimals_of_the_file(tmp_path):
    gaps = cc.read_table(table_of(tmp_path, [["1.5"], ["NA"], ["2.5"]], values=["a", "b", "a"]))
    assert not gaps.samples("label", missing="indicator").X.written
    whole = cc.read_table(table_of(tmp_path, WRITTEN))
    assert not whole.samples(formula="label ~ x1 * x2").X.written


def test_a_frame_is_doubles(tmp_path):
    table = cc.Table({"a": DOUBLES[:, 0], "b": DOUBLES[:, 1], "label": LABELS})
    assert not table.samples("label").X.written

"""Residuals as numbers: absolute and relative, the largest of a block, and what rounding may hide."""

from __future__ import annotations

import numpy as np
import pytest

from convexcls.proofs.kkt.residuals import KKT, BlockResidual, Residual, largest, ratio
from tests.small_problems import a


@pytest.mark.parametrize(
    ("value", "scale", "wanted"),
    [
        (3.0, 2.0, 1.5),
        (0.0, 0.0, 0.0),
        (0.0, np.nan, 0.0),
        (1.0, 0.0, np.inf),
        (1.0, np.inf, np.inf),
        (1.0, np.nan, np.inf),
        (np.nan, 1.0, np.inf),
        (np.inf, 1.0, np.inf),
        (np.inf, np.inf, np.inf),
    ],
)
def test_what_cannot_be_told_is_infinite(value, scale, wanted):
    assert ratio(value, scale) == wanted


def test_a_block_is_measured_by_its_largest_number():
    values, sizes = a(0, 2, 1), a(0, 8, 2)
    assert BlockResidual.of(values, ((1.0, 4.0), (3.0, 2.0))).relative == 3.0
    plain = BlockResidual.of(values, ((1.0, sizes), (0.5, sizes)))
    assert (plain.max, plain.relative, plain.rounding, plain.least) == (2.0, 0.5, 0.0, 0.0)
    assert plain.relatives.tolist() == [0.0, 0.25, 0.5]
    assert BlockResidual.of(values, ((4.0, sizes),)).relative == 2.0
    assert BlockResidual.of(values, ((1.0, sizes),), least=0.25).relative == 0.5
    floor = BlockResidual.of(values, ((1.0, sizes),), least=0.75)
    assert floor.relative == 0.75
    assert floor.relatives.tolist() == [0.0, 0.75, 0.75]
    assert BlockResidual.of(np.zeros(2), ((1.0, 1.0),), least=0.75).relative == 0.0
    assert BlockResidual.of(np.zeros(2), ((1.0, 1.0),), least=np.inf).relative == np.inf
    assert BlockResidual.of(a(np.nan), ((1.0, 1.0),)).relative == np.inf
    assert largest(2.0, ((1.0, sizes[1:]), (2.0, 8.0))) == 1.0
    assert largest(2.0, ((1.0, sizes),)) == largest(values, ((1.0, np.inf),)) == np.inf


def test_blocks_without_rows_are_never_the_worst():
    none, one = BlockResidual.of(np.zeros(0), ((1.0, 1.0),)), BlockResidual.of(a(0, 0.25, 0), ((1.0, 1.0),), 0.5)
    assert Residual({}).worst == Residual({"none": none}).worst == ("", 0)
    assert Residual({"none": none, "some": BlockResidual.of(np.zeros(2), ((1.0, 1.0),))}).worst == ("some", 0)
    both = Residual({"none": none, "one": one})
    assert both.worst == ("one", 1)
    assert (both.bound_of([]), both.bound_of(["none"]), both.bound_of(["none", "one"])) == (0.0, 0.0, 0.75)


def test_what_rounding_hides_may_hold():
    """A measure of 1/4 known to 1/8 is above any tolerance below 1/8."""
    unknown = Residual({"one": BlockResidual.of(a(0.25), ((1.0, 1.0),), 0.125)})
    nothing = Residual({})
    kkt = KKT(unknown, nothing, nothing, nothing, 1.0, 1.0, 1.0, (), 0.0)
    assert [kkt.may_hold(tol) for tol in (0.0, 0.12, 0.125, 1.0)] == [False, False, True, True]
    assert [kkt.holds(tol) for tol in (0.25, 0.37, 0.375, 1.0)] == [False, False, True, True]


def test_what_is_not_a_number_is_beyond_any_bound_wherever_it_stands():
    fine = BlockResidual.of(np.array([0.5]), ((1.0, 2.0),))
    lost = fine._replace(max=np.nan, relative=np.nan, rounding=np.nan)
    for blocks in ({"a": fine, "b": lost}, {"a": lost, "b": fine}, {"a": lost}):
        residual = Residual(blocks)
        assert (residual.max, residual.relative, residual.bound) == (np.inf, np.inf, np.inf)


@pytest.mark.parametrize(
    ("values", "scales", "expected"),
    [
        ([0.0, 3.0], [0.0, 6.0], 0.5),  # 0 of nothing
        ([1.0, 3.0], [0.0, 6.0], np.inf),
        ([1.0, 3.0], [np.inf, 6.0], 0.5),
        ([np.inf, 3.0], [np.inf, 6.0], np.inf),
        ([np.nan, 3.0], [1.0, 6.0], np.inf),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
    ],
)
def test_the_largest_of_several_quotients_is_told_where_some_cannot_be(values, scales, expected):
    with np.errstate(all="ignore"):
        assert largest(np.array(values), ((1.0, np.array(scales)),)) == expected

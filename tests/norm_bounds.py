"""Small problems for bounds by norms, worked out by hand, and what is known of them at a point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexcls as cc
from convexcls.proofs.kkt.at_once import AtOnce, bounded_at_once
from convexcls.rows import DiagonalRows
from tests.small_problems import a, block

#: min 2 x^2 - 3 x + 5 with 2 x <= 6: at x = 1 it is 4, and with the multiplier 1/2 the gradient is 4 - 3 + 1 = 2.
CURVED = {"quadratic": {"x": [4.0]}, "linear": {"x": [-3.0]}}
CAP = block("cap", [[2.0]], 6.0)
#: At (1, 3) a row is on its side, one beyond it by 2, and one far within: by 96.
ROWS = ([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [2.0, 4.0, 100.0])


def known(problem: cc.Problem, x: Any, multipliers: Any) -> AtOnce:
    """The bounds, where there are some."""
    found = bounded_at_once(problem, x, multipliers)
    assert found is not None
    return found


def assert_bounds(given: Any, wanted: dict[str, Any]) -> None:
    """That the bounds are these numbers."""
    found = known(*given)._asdict()
    for field, value in wanted.items():
        assert found[field] == pytest.approx(value, rel=1e-9, abs=1e-9), field


def one_to_one(name: str, size: int, value: float, rhs: Any) -> cc.Constraint:
    """Bounds of x, entry by entry."""
    return cc.Constraint(name, {"x": DiagonalRows.identity(size, value)}, rhs=rhs)


def picked(name: str, *rows: Any) -> cc.Constraint:
    """Rows that pick out entries of x one by one, and are not known to be a diagonal."""
    return cc.Constraint(name, {"x": sparse.csr_array(np.array(rows))}, rhs=9.0)


def pair(*constraints: cc.Constraint, **parts: Any) -> cc.Problem:
    """Over u and v of one entry each, and w of two."""
    names = [cc.Variable("u", 1, "u"), cc.Variable("v", 1, "v"), cc.Variable("w", 2, "w")]
    return cc.Problem("pair", names, constraints=constraints, **parts)


def slack(cost: float, curvature: float, *rhs: float, reach: float = 1.0) -> cc.Problem:
    """Rows reach x - s <= rhs, a slack s for each, without a sign."""
    n = len(rhs)
    row = cc.Constraint("row", {"x": np.full((n, 1), reach), "s": DiagonalRows.identity(n, -1.0)}, rhs=a(*rhs))
    names = [cc.Variable("x", 1, "x"), cc.Variable("s", n, "s", "samples")]
    costs: Any = {"linear": {"s": [cost] * n}} if cost else {"quadratic": {"s": [curvature] * n}}
    return cc.Problem("slack", names, constraints=[row], **costs)

"""Problems over one variable x, small enough to be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import convexcls as cc


def a(*values: float) -> NDArray[np.float64]:
    """A vector of doubles."""
    return np.array(values, dtype=float)


def block(name: str, rows: Any, rhs: Any, relation: Any = "<=", **more: Any) -> cc.Constraint:
    """Rows over x."""
    return cc.Constraint(name, {"x": np.array(rows)}, rhs=rhs, relation=relation, **more)


def over(size: int, *constraints: cc.Constraint, **parts: Any) -> cc.Problem:
    """A problem over x."""
    return cc.Problem("small", [cc.Variable("x", size, "x")], constraints=constraints, **parts)

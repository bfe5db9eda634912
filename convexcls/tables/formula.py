"""Formulas, ``"chd ~ sbp + tobacco * famhist"``, as terms: products of columns.

formulaic takes the formula apart; what is computed from the terms is the coding's. A formula names columns and nothing
else: a call such as log(x) would be code, and a coding holds none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from convexcls.tables.errors import TableError
from convexcls.wording import did_you_mean


@dataclass(frozen=True)
class Formula:
    """The target (None without a left side), the terms, each a product of columns, and whether there is an
    intercept."""

    target: str | None
    terms: tuple[tuple[str, ...], ...]
    intercept: bool


def read_formula(text: str, names: tuple[str, ...]) -> Formula:
    """The formula over columns of these names; a point stands for all that are not the target."""
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ImportError:
        raise TableError("a formula needs formulaic; install it with: pip install 'convexcls[formula]'") from None
    left, _, right = text.rpartition("~")
    target = left.strip().strip("`") or None
    if "." in right.split():  # alone between blanks
        others = " + ".join(f"`{name}`" for name in names if name != target)
        right = " ".join(f"({others})" if word == "." else word for word in right.split())
    try:
        found: Any = formulaic.Formula(right)
    except (FormulaicError, SyntaxError, ValueError, TypeError) as error:
        raise TableError(f"the formula {text!r} cannot be read: {str(error).splitlines()[0][:200]}") from None
    terms, intercept = [], False
    for term in found:
        factors = [str(factor) for factor in term.factors]
        if factors == ["1"]:
            intercept = True
            continue
        columns = tuple(_column(factor, names, text) for factor in factors)
        terms.append(columns)
    if target is not None and target not in names:
        _column(target, names, text)
    if not terms:
        raise TableError(f"the formula {text!r} has no terms: name a column on its right side")
    return Formula(target, tuple(terms), intercept)


def _column(factor: str, names: tuple[str, ...], text: str) -> str:
    name = factor.strip("`")
    if name in names:
        return name
    if "(" in factor or "{" in factor:
        raise TableError(
            f"the formula {text!r} has {factor!r}, which is computed: put that into the table as a column of its own"
        )
    raise TableError(f"the formula {text!r} names {name!r}, and there is no such column{did_you_mean(name, names)}")

"""Functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from convexcls.basis.base import Basis, check_count, refuse_sparse
from convexcls.data import DataError, Named
from convexcls.data.numbers import as_array, describe

Function = Callable[[Any], Any]


class Functions(Basis):
    """Functions of your own, each of all samples at once: phi(X) gives one value a row, or several columns.

    >>> import convexcls as cc
    >>> import numpy as np
    >>> basis = cc.Functions(lambda X: X, wave=lambda X: np.sin(X[:, 0]))
    >>> basis([[0.0, 1.0], [2.0, 3.0]]).features
    ('x1', 'x2', 'wave')

    A function given by keyword has that name, another one its own; where the name is not telling or there are
    several columns, they are numbered.
    """

    def __init__(self, *functions: Function, **named: Function) -> None:
        given = [*((_own_name(f), f) for f in functions), *named.items()]
        if not given:
            raise ValueError("a basis needs at least one function")
        for name, function in given:
            if not callable(function):
                raise ValueError(f"{name or describe(function)} is not a function of X")
        self._functions = tuple(given)

    @property
    def functions(self) -> tuple[tuple[str, Function], ...]:
        """The functions with their names; an empty name where there is none."""
        return self._functions

    def columns(self, matrix: Any, inputs: Sequence[str]) -> Named:
        refuse_sparse(matrix, self)
        guarded = np.asarray(matrix).view()
        guarded.setflags(write=False)  # a function that changes X would change the caller's
        parts, names = [], []
        for k, (name, function) in enumerate(self._functions):
            part = _as_columns(function(guarded), name or f"function {k}", len(guarded))
            parts.append(part)
            names += _column_names(name, k, part, guarded, inputs)
        check_count(len(names), self)
        return Named(np.hstack(parts), _distinct(names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Functions) and self._functions == other._functions

    def __hash__(self) -> int:
        return hash(self._functions)

    def __repr__(self) -> str:
        return f"Functions({', '.join(name or f'function {k}' for k, (name, _) in enumerate(self._functions))})"


def _own_name(function: Any) -> str:
    name = str(getattr(function, "__name__", ""))
    return "" if name == "<lambda>" else name


def _as_columns(values: Any, name: str, n: int) -> Any:
    array = as_array(values, f"the values of {name}")
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n or array.shape[1] == 0:
        raise DataError(
            f"{name} gives an array of shape {array.shape}: it must give one value (or row) for each of {n}"
        )
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name} gives entries of type {array.dtype}: it must give real numbers")
    return array.astype(np.float64)


def _column_names(name: str, k: int, part: Any, X: Any, inputs: Sequence[str]) -> list[str]:
    if part.shape == X.shape and np.array_equal(part, X):  # the features as they are
        return list(inputs)
    name = name or f"function {k}"
    return [name] if part.shape[1] == 1 else [f"{name}[{j}]" for j in range(part.shape[1])]


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Names that occur twice, numbered."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(out)

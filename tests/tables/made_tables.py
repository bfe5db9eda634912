"""A table in the likeness of an old study of heart disease, and how its samples are coded by other hands."""

from __future__ import annotations

from typing import Any

import numpy as np


def heart(n: int = 120, seed: int = 5) -> dict[str, list[Any]]:
    """Columns of numbers, one of text, and a target of 0 and 1 that overlaps."""
    rng = np.random.default_rng(seed)
    age, tobacco = rng.integers(15, 65, n), rng.gamma(1.0, 3.0, n).round(2)
    famhist = rng.random(n) < 0.42
    odds = -2.5 + 0.04 * age + 0.08 * tobacco + 0.9 * famhist
    return {
        "tobacco": tobacco.tolist(),
        "famhist": np.where(famhist, "Present", "Absent").tolist(),
        "age": age.tolist(),
        "chd": (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int).tolist(),
    }


def as_csv(columns: dict[str, list[Any]], sep: str = ",", decimal: str = ".") -> str:
    """The columns as the text of a file."""
    lines = [sep.join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(sep.join(str(c).replace(".", decimal) if isinstance(c, float) else str(c) for c in row))
    return "\n".join(lines) + "\n"


def coded_by_hand(columns: dict[str, list[Any]]) -> Any:
    """The matrix with an indicator of the rarer family history."""
    famhist = np.array(columns["famhist"])
    rare = "Present" if (famhist == "Present").sum() <= len(famhist) / 2 else "Absent"
    return np.column_stack([columns["tobacco"], famhist == rare, columns["age"]]).astype(float)

"""A summary as text, arranged as users of statsmodels know it: a head in two columns, then the table."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from convexcls.studies.inference.summary import Coefficient, Summary
from convexcls.wording import paragraph, shorten

WIDTH = 78
LONGEST_NAME = 32


def to_text(s: Summary) -> str:
    """The summary in lines of 78 characters, or more where names are long."""
    names = [shorten(c.name, LONGEST_NAME) for c in s.coefficients]
    headings = [heading(c.equation) for c in s.coefficients]
    first = max(12, *(len(text) for text in (*names, *headings)))
    width = max(WIDTH, first + 66)
    lines = [s.title.center(width).rstrip(), "=" * width]
    half = (width - 2) // 2
    for left, right in head(s):
        lines.append((_pair(left, half) + "  " + _pair(right, width - half - 2)).rstrip())
    lines.append("=" * width)
    for equation, group in groupby(s.coefficients, key=lambda c: c.equation):
        lines += [_line(heading(equation), titles(s), first), "-" * width]
        lines += [_line(shorten(c.name, LONGEST_NAME), cells(c), first) for c in group]
        lines.append("-" * width if equation is not None else "=" * width)
    lines[-1] = "=" * width
    for note in s.notes:
        lines += paragraph(note, width=width)
    return "\n".join(lines)


def head(s: Summary) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The fit as a whole: names and values, two pairs a line."""
    fit = [
        ("Model:", s.model),
        ("Solver:", s.solver),
        ("Verdict:", f"optimal, proved to {s.tolerance:.0e}"),
        ("No. Observations:", f"{s.n:g}" if s.n < 1e6 else f"{s.n:.0f}"),
        ("Df Residuals:", f"{s.df_residual:g}"),
        ("Df Model:", f"{s.df_model:g}"),
        ("Log-Likelihood:", _number(s.log_likelihood, 5)),
        ("LL-Null:", _number(s.null_log_likelihood, 5)),
    ]
    quality = [("R-squared:", _number(s.r_squared, 4)), ("Adj. R-squared:", _number(s.adjusted_r_squared, 4))]
    names = ("F-statistic:", "Prob (F-statistic):", "Residual SS:")
    if s.statistic == "z":
        quality = [("Pseudo R-squ.:", _number(s.r_squared, 4))]
        names = ("LR-statistic:", "LLR p-value:", "Deviance:")
    quality += [
        (names[0], _number(s.test.statistic, 4)),
        (names[1], _tiny(s.test.p_value)),
        (names[2], _number(s.deviance, 5)),
        ("AIC:", _number(s.aic, 4)),
        ("BIC:", _number(s.bic, 4)),
    ]
    quality.append(
        ("Scale:", _number(s.scale, 5)) if s.statistic == "t" else ("Covariance Type:", "inverse information")
    )
    fit += [("", "")] * (len(quality) - len(fit))
    quality += [("", "")] * (len(fit) - len(quality))
    return list(zip(fit, quality, strict=True))


def titles(s: Summary) -> list[str]:
    """The titles of the columns."""
    low, high = (1 - s.confidence) / 2, (1 + s.confidence) / 2
    return ["coef", "std err", s.statistic, f"P>|{s.statistic}|", f"[{low:.4g}", f"{high:.4g}]"]


def cells(c: Coefficient) -> list[str]:
    """The numbers of a coefficient, in the order of the titles."""
    p = "nan" if np.isnan(c.p_value) else f"{c.p_value:.3f}"
    return [
        _number(c.estimate, 4),
        *(_number(value, 3) for value in (c.standard_error, c.statistic)),
        p,
        *(_number(value, 3) for value in (c.low, c.high)),
    ]


def _line(name: str, texts: list[str], first: int) -> str:
    return name.ljust(first) + "".join(text.rjust(11) for text in texts)


def _pair(pair: tuple[str, str], width: int) -> str:
    name, value = pair
    return f"{name} {value.rjust(width - len(name) - 1)}" if name else " " * width


def heading(equation: Any) -> str:
    """The label whose log-odds an equation is about; nothing where there is one only."""
    return "" if equation is None else f"y={shorten(str(equation), LONGEST_NAME)}"


def _number(value: float | None, digits: int) -> str:
    """Decimals where these show enough, else that many digits."""
    if value is None or np.isnan(value):
        return "nan"
    if value == 0 or 1e-2 <= abs(value) < 1e5:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}g}" if np.isfinite(value) else f"{value}"


def _tiny(p: float) -> str:
    return "nan" if np.isnan(p) else f"{p:.4g}"

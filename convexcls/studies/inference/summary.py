"""The statistical output of a fit, as values and as text.

The text is arranged as users of statsmodels know it: a head in two columns, then the table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import groupby, zip_longest
from typing import Any, Literal

import numpy as np

from convexcls.arrays import Array
from convexcls.in_notebooks import InNotebooks
from convexcls.wording import count, number, paragraph, plain_values, shorten

SUMMARY_WIDTH = 78
MAX_NAME_CHARACTERS = 32


@dataclass(frozen=True)
class Coefficient:
    """One estimate: ``statistic`` is estimate over standard error, ``p_value`` that of both sides, ``low`` to ``high``
    the confidence interval. ``equation`` is the label whose log-odds it belongs to, where there are several.

    >>> import convexcls as cc
    >>> summary = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve().summary()
    >>> intercept = summary["intercept"]
    >>> round(intercept.estimate, 6), bool(intercept.low < 0 < intercept.high)
    (0.166667, True)
    """

    name: str
    estimate: float
    standard_error: float
    statistic: float
    p_value: float
    low: float
    high: float
    equation: Any = None


@dataclass(frozen=True)
class Test:
    """A test of the whole model against the null model: ``degrees`` is one number (chi-squared) or two (F).

    >>> import convexcls as cc
    >>> summary = cc.LeastSquares([[0], [1], [2]], [0, 1, 1], coding="real").solve().summary()
    >>> summary.test.degrees, round(summary.test.statistic, 6)
    ((1.0, 1.0), 3.0)
    """

    __test__ = False  # no test of pytest's

    name: str
    statistic: float
    degrees: tuple[float, ...]
    p_value: float


@dataclass(frozen=True, eq=False)
class Summary(InNotebooks):
    """Estimates with their errors, the fit as a whole, and what it stands on.

    ``covariance`` is in the order of ``coefficients``. ``deviance`` is minus twice the log-likelihood; of least squares
    the residual sum of squares. ``r_squared`` is McFadden's where the model is a likelihood of labels. ``scale`` is the
    variance of the errors (1 for labels). Print it, or read its fields; ``summary["name"]`` is one coefficient.

    ``n`` counts samples, ``df_model`` and ``df_residual`` degrees of freedom. ``test`` is that of the whole model,
    ``null_log_likelihood`` that of the null model: an intercept alone, or nothing where there is none. ``notes`` are
    remarks on the fit.

    >>> import convexcls as cc
    >>> summary = cc.LogisticMLE([[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 1, 1]).solve().summary()
    >>> summary.n, summary.df_model, summary.statistic
    (6.0, 1.0, 'z')
    >>> round(summary["x1"].standard_error ** 2, 6)  # 1/2 + 1/1 + 1/1 + 1/2, as of any table of counts
    3.0
    """

    title: str
    model: str
    solver: str
    tolerance: float
    statistic: Literal["z", "t"]
    coefficients: tuple[Coefficient, ...]
    covariance: Array = field(repr=False)
    n: float
    df_model: float
    df_residual: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    r_squared: float
    adjusted_r_squared: float | None
    test: Test
    aic: float
    bic: float
    scale: float
    confidence: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.covariance.setflags(write=False)

    def __repr__(self) -> str:
        estimated = count(len(self.coefficients), "coefficient")
        return f"<Summary of {self.title}: {estimated}, log-likelihood {number(self.log_likelihood)}>"

    def __getitem__(self, name: Any) -> Coefficient:
        """The coefficient of that name; with several equations of that (label, name)."""
        for c in self.coefficients:
            if name in (c.name, (c.equation, c.name)) and (c.equation is None or isinstance(name, tuple)):
                return c
        names = [c.name if c.equation is None else (c.equation, c.name) for c in self.coefficients]
        raise KeyError(f"there is no coefficient {name!r}; there are {', '.join(map(repr, names))}")

    @property
    def standard_errors(self) -> Array:
        """The standard errors, in the order of the coefficients."""
        return np.array([c.standard_error for c in self.coefficients])

    @property
    def estimates(self) -> Array:
        """The estimates."""
        return np.array([c.estimate for c in self.coefficients])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; what is not a finite number is None."""
        return plain_values({"schema": "convexcls-summary/1", **asdict(self)})

    def __str__(self) -> str:
        return to_text(self)


# ---- tails of distributions, to full relative accuracy far out ------------------------------------------


def both_sides(statistic: float, df: float | None) -> float:
    """P(|T| > |statistic|) for a standard normal T (``df`` None) or Student's with ``df`` degrees of freedom."""
    from scipy.special import betainc, erfc  # not at import: it costs as much as the rest

    if np.isnan(statistic):
        return float("nan")
    if df is None:
        return float(erfc(abs(statistic) / np.sqrt(2.0)))
    with np.errstate(over="ignore"):
        return float(betainc(df / 2, 0.5, df / (df + np.float64(statistic) ** 2)))


def quantile(confidence: float, df: float | None) -> float:
    """The c with P(|T| <= c) = confidence."""
    from scipy.special import ndtri, stdtrit

    tail = (1.0 - confidence) / 2
    return float(-ndtri(tail) if df is None else -stdtrit(df, tail))


def chi_squared_tail(value: float, df: float) -> float:
    """P(T > value) for a chi-squared T."""
    from scipy.special import gammaincc

    return float(gammaincc(df / 2, max(value, 0.0) / 2))


def f_tail(value: float, df: float, df_residual: float) -> float:
    """P(T > value) for an F-distributed T."""
    from scipy.special import betainc

    if np.isnan(value):
        return float("nan")
    return float(betainc(df_residual / 2, df / 2, df_residual / (df_residual + df * value)))


def coefficient(
    name: str, estimate: float, error: float, confidence: float, df: float | None, equation: object = None
) -> Coefficient:
    """One line of the table. An error of 0, that of a perfect fit, leaves no doubt about anything but 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = float(np.float64(estimate) / error)
    reach = quantile(confidence, df) * error if error > 0 else error
    return Coefficient(
        name, estimate, error, statistic, both_sides(statistic, df), estimate - reach, estimate + reach, equation
    )


# ---- as text --------------------------------------------------------------------------------------------


def to_text(s: Summary) -> str:
    """The summary in lines of 78 characters, or more where names are long."""
    names = [shorten(c.name, MAX_NAME_CHARACTERS) for c in s.coefficients]
    headings = [heading(c.equation) for c in s.coefficients]
    first = max(12, *(len(text) for text in (*names, *headings)))
    width = max(SUMMARY_WIDTH, first + 66)
    lines = [s.title.center(width).rstrip(), "=" * width]
    half = (width - 2) // 2
    for left, right in head(s):
        lines.append((_pair(left, half) + "  " + _pair(right, width - half - 2)).rstrip())
    lines.append("=" * width)
    for equation, group in groupby(s.coefficients, key=lambda c: c.equation):
        lines += [_line(heading(equation), titles(s), first), "-" * width]
        lines += [_line(shorten(c.name, MAX_NAME_CHARACTERS), cells(c), first) for c in group]
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
        ("Log-Likelihood:", _decimals(s.log_likelihood, 5)),
        ("LL-Null:", _decimals(s.null_log_likelihood, 5)),
    ]
    quality = [("R-squared:", _decimals(s.r_squared, 4)), ("Adj. R-squared:", _decimals(s.adjusted_r_squared, 4))]
    names = ("F-statistic:", "Prob (F-statistic):", "Residual SS:")
    if s.statistic == "z":
        quality = [("Pseudo R-squ.:", _decimals(s.r_squared, 4))]
        names = ("LR-statistic:", "LLR p-value:", "Deviance:")
    quality += [
        (names[0], _decimals(s.test.statistic, 4)),
        (names[1], f"{s.test.p_value:.4g}"),
        (names[2], _decimals(s.deviance, 5)),
        ("AIC:", _decimals(s.aic, 4)),
        ("BIC:", _decimals(s.bic, 4)),
        ("Scale:", _decimals(s.scale, 5)) if s.statistic == "t" else ("Covariance Type:", "inverse information"),
    ]
    return list(zip_longest(fit, quality, fillvalue=("", "")))


def titles(s: Summary) -> list[str]:
    """The titles of the columns."""
    low, high = (1 - s.confidence) / 2, (1 + s.confidence) / 2
    return ["coef", "std err", s.statistic, f"P>|{s.statistic}|", f"[{low:.4g}", f"{high:.4g}]"]


def cells(c: Coefficient) -> list[str]:
    """The numbers of a coefficient, in the order of the titles."""
    error, statistic, low, high = (_decimals(v, 3) for v in (c.standard_error, c.statistic, c.low, c.high))
    return [_decimals(c.estimate, 4), error, statistic, f"{c.p_value:.3f}", low, high]


def _line(name: str, texts: list[str], first: int) -> str:
    return name.ljust(first) + "".join(text.rjust(11) for text in texts)


def _pair(pair: tuple[str, str], width: int) -> str:
    name, value = pair
    return f"{name} {value.rjust(width - len(name) - 1)}" if name else " " * width


def heading(equation: Any) -> str:
    """The label whose log-odds an equation is about; nothing where there is one only."""
    return "" if equation is None else f"y={shorten(str(equation), MAX_NAME_CHARACTERS)}"


def _decimals(value: float | None, digits: int) -> str:
    """Decimals where these show enough, else that many digits."""
    if value is None:
        return "nan"
    return f"{value:.{digits}f}" if value == 0 or 1e-2 <= abs(value) < 1e5 else f"{value:.{digits}g}"

"""Tails of the normal, Student's, chi-squared and F distributions, to full relative accuracy far out."""

from __future__ import annotations

import numpy as np

from convexcls.studies.inference.summary import Coefficient


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

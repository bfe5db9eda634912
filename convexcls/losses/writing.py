"""Formulas put together from parts, with brackets where they are needed and only there."""

from __future__ import annotations

import re

# a letter or a command, with arguments in braces, and its indices: m_i, \beta_0, \tilde{\beta}, \alpha^+_i
_SYMBOL = re.compile(r"\\?[A-Za-z]+(\{[^{}]*\})*([_^](\{[^{}]*\}|\\?[A-Za-z]+|[0-9+\-*]))*")


def bracketed(u: str) -> str:
    """``u``, in brackets if it is a sum or carries a sign: fit to follow a minus."""
    depth = 0
    for character in u:
        depth += (character in "({[") - (character in ")}]")
        if depth == 0 and character in "+-" and not _SYMBOL.fullmatch(u):
            return f"({u})"
    return u


def log(u: str) -> str:
    r"""``\log u``, the argument in brackets unless it is a single symbol."""
    return rf"\log {u}" if _SYMBOL.fullmatch(u) else rf"\log({u})"


def squared(u: str) -> str:
    """``u^2``, in brackets unless it is a single symbol without a power."""
    return f"{u}^2" if _SYMBOL.fullmatch(u) and "^" not in u else f"({u})^2"


def number(value: float) -> str:
    """A number, in powers of ten where it is very large or small."""
    mantissa, _, exponent = f"{value:g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return {"1": power, "-1": f"-{power}"}.get(mantissa, rf"{mantissa} \cdot {power}")


def multiple(factor: float, u: str) -> str:
    """``factor u``, with the factor left out where it is one."""
    if factor == 1:
        return u
    return f"-{bracketed(u)}" if factor == -1 else f"{number(factor)} {bracketed(u)}"


def line(slope: float, height: float, u: str) -> str:
    """``slope u + height``."""
    if slope == 0:
        return number(height)
    if height == 0:
        return multiple(slope, u)
    return f"{multiple(slope, u)} {'-' if height < 0 else '+'} {number(abs(height))}"

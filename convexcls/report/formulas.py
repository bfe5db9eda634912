"""Formulas as MathML, by math-core; as plain text where it is not installed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from convexcls.latex import plain
from convexcls.report.markup import Html, tag


@lru_cache(maxsize=1)
def _converter() -> Any:
    try:
        from math_core import LatexToMathML
    except ImportError:
        return None
    return LatexToMathML(fancy_error=False)


def installed() -> bool:
    """Whether formulas come out as mathematics."""
    return _converter() is not None


def formula(latex: str, display: bool = False) -> Html:
    """A formula of ours, in a line or (``display``) standing alone."""
    converter = _converter()
    if converter is not None:
        try:
            return Html(converter.convert_with_local_state(latex, displaystyle=display))
        except Exception:  # a symbol of the user's own need not be LaTeX
            pass
    text = "\n".join(plain(line) for line in _lines(latex))
    return tag("pre", text, class_="formula") if display else tag("span", text, class_="formula")


def _lines(latex: str) -> list[str]:
    """The lines of an aligned formula."""
    inside = latex.replace(r"\begin{aligned}", "").replace(r"\end{aligned}", "")
    return [line.replace("&", " ").strip() for line in inside.split(r"\\")]

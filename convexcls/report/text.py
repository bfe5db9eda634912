"""Names and numbers as text, for a screen or a page.

Whatever comes from a file (feature names, labels) may hold control characters: it passes ``clean``.
"""

from __future__ import annotations

import math
import unicodedata

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def clean(text: str, keep: str = "") -> str:
    """The text with control, formatting and unpaired characters (but those to keep) made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in keep or unicodedata.category(c) not in HIDDEN else c.encode("unicode_escape").decode() for c in text
    )


def shorten(text: str, length: int = 60) -> str:
    """A name, cleaned and cut to a length that a line can hold."""
    text = clean(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def count(n: int, what: str) -> str:
    """So many of something."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def number(value: float) -> str:
    """A value with ten digits; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value + 0.0:.10g}"


def small(value: float) -> str:
    """A residual with two digits; 0 where it is exactly that."""
    return "-" if math.isnan(value) else "0" if value == 0 else f"{value:.1e}"


def seconds(value: float) -> str:
    """A time with two or three digits."""
    return "-" if math.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"

"""The wording that every text shares: names, numbers, counts, lists, paragraphs, columns of text.

Whatever comes from a file (feature names, labels) may hold control characters: it passes ``clean`` before it is shown.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice
from textwrap import wrap
from typing import Any

import numpy as np

#: Lines of prose are at most so long.
LINE_WIDTH = 110
#: Longer rationals are shown by their first digits.
MAX_RATIONAL_DIGITS = 60
#: In files they are written out up to this many digits: Python reads no more than 4300.
MAX_FILE_DIGITS = 4000
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


# ---- names ----------------------------------------------------------------------------------------------


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


def capitalized(text: str) -> str:
    """The text with its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def count(n: int, what: str, more: str = "s", grouping: str = "") -> str:
    """So many of something: ``1 sample``, ``2 samples``, grouped by "," ``2,000 samples``."""
    return f"{n:{grouping}} {what}{'' if n == 1 else more}"


def listed(values: Iterable[Any], most: int = 12, more: str = ", ...") -> str:
    """The first values with commas between; ``more`` stands for the others, {} in it for how many these are."""
    rest = iter(values)
    shown = ", ".join(str(value) for value in islice(rest, most))
    left = sum(1 for _ in (rest if "{}" in more else islice(rest, 1)))
    return shown + (more.format(left) if left else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion, where a known name is close."""
    import difflib  # not at import: an error has time

    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


# ---- numbers --------------------------------------------------------------------------------------------


def number(value: float, digits: int = 10) -> str:
    """A value with ten digits; a dash where there is none."""
    return "-" if math.isnan(value) else f"{value + 0.0:.{digits}g}"


def small(value: float) -> str:
    """A residual with two digits; 0 where it is exactly that."""
    return "-" if math.isnan(value) else "0" if value == 0 else f"{value:.1e}"


def seconds(value: float) -> str:
    """A time with two or three digits."""
    return "-" if math.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def rational_text(value: Fraction, longest: int = MAX_RATIONAL_DIGITS) -> str:
    """A rational as it is where it is short, else its first digits, said to be such."""
    short = short_rational(value, longest)
    return (
        short or f"{rounded_text(value, 15)}... ({_digits(value.numerator)} digits over {_digits(value.denominator)})"
    )


def short_rational(value: Fraction, longest: int = MAX_RATIONAL_DIGITS) -> str:
    """A rational as it is, empty where that has too many letters."""
    if _digits(value.numerator) + _digits(value.denominator) > longest + 1:
        return ""
    text = str(value)
    return text if len(text) <= longest else ""


def _digits(number: int) -> int:
    """How many digits a whole number has; of a long one Python would not write them."""
    return math.floor(math.log10(abs(number))) + 1 if number else 1


def rounded_text(value: Fraction, digits: int) -> str:
    """The first digits of a rational, for which a double may have no room."""
    with localcontext(prec=digits):
        first = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{first.normalize():g}"


def plain_values(value: Any) -> Any:
    """Values as JSON can hold them: what is not a finite number is None, what is nothing else is text."""
    if isinstance(value, Mapping):
        return {str(k): plain_values(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain_values(value.tolist())
    if isinstance(value, np.generic):
        return plain_values(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Sequence):
        return [plain_values(v) for v in value]
    return str(value)


# ---- lines ----------------------------------------------------------------------------------------------


def paragraph(*texts: str, width: int = LINE_WIDTH) -> list[str]:
    """Texts, each begun on a line of its own, in lines of a width that can be read."""
    return [line for text in texts for line in wrap(text, width)]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines, moved to the right."""
    return [f"  {line}" for line in lines]


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """A table in letters of one width: the titles, a rule, a line a row; the columns of ``right`` end together."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    forms = [f"{'>' if k in right else '<'}{width}" for k, width in enumerate(widths)]
    texts = ["  ".join(map(format, line, forms)).rstrip() for line in lines]
    return [texts[0], "  ".join("-" * width for width in widths), *texts[1:]]


def bytes_in_words(size: float) -> str:
    """A number of bytes, such as 3.2 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"

"""Docstrings are plain text: sentences, ``names``, indented formulas, examples. This makes reStructuredText of them.

An indented paragraph is shown as it stands; in sentences the letters that reStructuredText would read as markup, as in
|y - f| or 2*n, stay letters. Docstrings that use roles, directives or fields are left to say so themselves.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(``.*?``|:\w+:`[^`]*`)")
MARKUP = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring, formulas as literal blocks and sentences without accidental markup."""
    out: list[str] = []
    literal = False
    for k, line in enumerate(lines):
        indented = line.startswith("    ")
        starts = indented and not literal and (k == 0 or not lines[k - 1].strip()) and not _in_markup(lines, k)
        if starts:
            out += ["::", ""]
            literal = True
        elif line.strip() and not indented:
            literal = False
        plain = literal or line.lstrip().startswith((">>>", "...", "..", ":")) or _is_example_output(lines, k)
        out.append(line.replace("``", "") if literal else line if plain else _escaped(line))
    return out


def _in_markup(lines: list[str], k: int) -> bool:
    """Whether the indented line k belongs to a directive, a field or a literal block that is already one."""
    before = [line for line in lines[:k] if line.strip() and not line.startswith("    ")]
    return bool(before) and (before[-1].startswith((".. ", ":")) or before[-1].rstrip().endswith("::"))


def _is_example_output(lines: list[str], k: int) -> bool:
    while k > 0 and lines[k - 1].strip():
        k -= 1
        if lines[k].lstrip().startswith(">>>"):
            return True
    return False


def _escaped(line: str) -> str:
    parts = CODE.split(line)
    return "".join(part if CODE.fullmatch(part) else MARKUP.sub(r"\\\1", part) for part in parts)


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

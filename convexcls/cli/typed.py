"""Refusals in the words of the command line: what is called ``SoftmaxMLE`` in Python is typed as ``softmax`` here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from convexcls.models import by_kind
from convexcls.wording import clean

#: Arguments of Python that are options of their own; all others are parameters of a model.
OPTIONS = ("level", "solver", "tol", "digits", "missing", "positive")
#: What the arguments of every model are called, where a message begins with them.
ARGUMENTS = {"X": "the table", "y": "the target", "sample_weight": "weights"}


@cache
def _rules() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """What is rewritten, in this order."""
    kinds = {cls.__name__: kind for kind, cls in by_kind().items()}
    classes = "|".join(sorted(kinds, key=len, reverse=True))

    def option(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"].strip("'\"")
        return f"--{name} {value}" if name in OPTIONS else f"--param {name}={value}"

    return [
        (re.compile(r"\b(?:certify|solve)\((\w+=[^()]*)\)"), r"\1"),
        (re.compile(r"(?<![\w'-])(?P<name>[A-Za-z]\w*)=(?P<value>'[^']*'|\"[^\"]*\"|[-+]?\d[\w.+-]*\w|\d)"), option),
        (re.compile(r"\bchoose two of them(?=, or use)"), "choose two of them, name one (--positive LABEL)"),
        (re.compile(rf"(?<!')\b(?:cc\.)?({classes})\b(?!')"), lambda found: kinds[found[1]]),
        (re.compile(r"\b([A-Z][a-z]+)Display\b"), lambda found: f"--kind {found[1].lower()}"),
        (re.compile(r"\bcc\.([a-z]\w*)"), r"convexcls \1"),
        (re.compile(rf"^({'|'.join(ARGUMENTS)})(?= (?:row|column)\b)"), lambda found: f"{ARGUMENTS[found[1]]},"),
        (re.compile(rf"^({'|'.join(ARGUMENTS)})\b"), lambda found: ARGUMENTS[found[1]]),
    ]


def typed(message: str) -> str:
    """A message as the command line says it.

    >>> from convexcls.cli.typed import typed
    >>> typed("use a model for several classes (SoftmaxMLE, FisherLDA), or try l2=0.1")
    'use a model for several classes (softmax, fisher), or try --param l2=0.1'
    """
    for pattern, said in _rules():
        message = pattern.sub(said, message)
    return clean(message, keep="\n")

"""The problems of the bench: instances with a known answer, from the gallery or generated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from convexcls import gallery
from convexcls.bench.families import FAMILIES, generated
from convexcls.problem import Problem
from convexcls.proofs.certificate import Status
from convexcls.wording import did_you_mean

GALLERY = "gallery"
SETS = (GALLERY, "families")


@dataclass(frozen=True, eq=False)
class Case:
    """A problem with what is known of its answer: the verdict and, where there is one, the optimum. ``family`` is what
    it belongs to; ``name`` finds it again."""

    name: str
    family: str
    problem: Problem = field(repr=False)
    verdict: Status
    optimum: Fraction | None


def cases(problems: str | Iterable[Any] = GALLERY) -> list[Case]:
    """The cases that are meant: ``gallery`` for all of the gallery and all that are generated, ``families`` for the
    latter, or names of both kinds.

    >>> from convexcls.bench.cases import cases
    >>> [(case.name, case.verdict, str(case.optimum)) for case in cases(["two_points", "scaled/hard-margin/1e3"])]
    [('two_points', 'optimal', '1/2'), ('scaled/hard-margin/1e3', 'optimal', '1/2000000')]
    """
    made = {case.name: case for case in map(_generated, generated())}
    if isinstance(problems, str):
        problems = [problems]
    out: list[Case] = []
    for wanted in problems:
        if isinstance(wanted, Case):
            out.append(wanted)
        elif wanted == GALLERY:
            out += [*map(_of_gallery, gallery.entries()), *made.values()]
        elif wanted == SETS[1]:
            out += made.values()
        elif wanted in FAMILIES:
            out += [case for case in made.values() if case.family == wanted]
        elif wanted in made:
            out.append(made[wanted])
        elif isinstance(wanted, str) and wanted in gallery.entries():
            out.append(_of_gallery(wanted))
        else:
            known: Sequence[str] = [*SETS, *FAMILIES, *made, *gallery.entries()]
            meant = did_you_mean(str(wanted), known)
            raise ValueError(
                f"there is no problem {wanted!r}{meant}: give {', '.join(SETS)}, a family ({', '.join(FAMILIES)}), a "
                "name of the gallery, or a Case with its known answer"
            )
    return out


def _of_gallery(name: str) -> Case:
    entry = gallery.entry(name)
    optimum = entry.known.optimum
    return Case(name, GALLERY, entry.problem, entry.known.verdict, None if optimum is None else optimum.value)  # type: ignore[arg-type]


def _generated(made: Any) -> Case:
    return Case(f"{made.family}/{made.model}/{made.member}", made.family, made.problem, made.verdict, made.optimum)

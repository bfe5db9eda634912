"""The tables in README.md and docs/benchmarks.md, written from the results: nobody types a figure.

    python -m benchmarks.pages [--results FOLDER] [--check]

What stands between ``<!-- results: NAME -->`` and ``<!-- end -->`` is written anew from results.json, each NAME by a
function of ``TABLES``. ``make bench`` does so after a whole run; ``--check`` says whether the pages are up to date.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from benchmarks.race import Result
from benchmarks.report import markdown_table
from benchmarks.standing import Standing

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")
SECTION = re.compile(r"(<!-- results: ([a-z]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

#: The cases that the README tells of, by how their titles begin: those that say most to a newcomer. So many of the
#: worst losses stand below them.
HEADLINES = (
    "hard margin, n = 20000",
    "hard margin, large",
    "hard margin, not separable",
    "soft margin, C = 1, n = 20000",
    "RBF SVM, C = 1, KKT 0.001",
    "least squares, n = 200000",
    "logistic, n = 200000 x d = 50",
    "logistic, n = 200000 x d = 200",
    "softmax, l2 = 1",
    "adult: soft margin",
    "text: squared hinge, C = 1, n = 20000 x d = 50000",
    "covtype raw: logistic",
    "pictures, 10 classes: softmax",
)
WORST = 5


@dataclass(frozen=True)
class Line:
    """A case as it stands in the results."""

    title: str
    standing: Standing

    @classmethod
    def of(cls, case: dict[str, Any]) -> Line:
        """From the plain values that a report has written."""
        sizes = " x ".join(f"{name} = {size}" for name, size in case["sizes"].items())
        title = ", ".join(part for part in (case["case"], sizes) if part)
        return cls(title, Standing.of([_result(values) for values in case["results"]]))

    @property
    def compared(self) -> bool:
        """Whether there is a peer to compare with, or no answer of ours."""
        return not math.isnan(self.standing.decisive)

    @property
    def lost(self) -> bool:
        """Whether a peer was faster, or we had no answer."""
        return self.standing.decisive < 1.0

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        s = self.standing
        ours = f"{s.ours.seconds:.3g} s" if s.answered else s.ours.status or f"only {s.ours.accuracy:.0e}"
        own = None if s.fastest is s.exact else s.fastest
        exact = _stopped(s) if s.exact is None else _cell(s, s.exact)
        return (self.title, ours, exact, _cell(s, own))


def _result(values: dict[str, Any]) -> Result:
    """A result from JSON, which has null for what is no number."""
    known = {f.name: f.default for f in fields(Result)}
    return Result(**{name: known[name] if v is None else v for name, v in values.items() if name in known})


def _cell(s: Standing, peer: Result | None) -> str:
    ratio = s.ratio(peer)
    return s.words(peer) + ("" if math.isnan(ratio) else f": {_times(ratio)}")


def _stopped(s: Standing) -> str:
    """What is known where no peer reached the accuracy."""
    if not s.answered or not math.isfinite(s.stopped):
        return "none"
    return f"none; stopped after {s.stopped:.3g} s: > {_times(s.stopped / s.ours.seconds)}"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 9.5 else f"{ratio:.1f}×" if ratio >= 1.0 else f"{ratio:.2g}×"


COLUMNS = ("case", "ours, proved", "fastest peer as accurate", "faster at an accuracy of its own")


@dataclass(frozen=True)
class Results:
    """The cases of a run, and what it was run on."""

    lines: list[Line]
    about: dict[str, str]

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Results:
        """From the plain values that a report has written."""
        return cls([Line.of(case) for case in plain["cases"]], plain["about"])

    @property
    def lost(self) -> list[Line]:
        """The cases in which a peer is faster, the worst first."""
        return sorted((line for line in self.lines if line.lost), key=lambda line: line.standing.decisive)

    @property
    def others(self) -> list[Line]:
        """All other cases, the largest ratio first; those without a peer last."""
        others = [line for line in self.lines if not line.lost]
        return sorted(others, key=lambda line: -line.standing.decisive if line.compared else math.inf)


def losses(results: Results) -> str:
    """Every case in which a peer is faster."""
    return table(results.lost) if results.lost else "None in this run."


def wins(results: Results) -> str:
    """All other cases."""
    return table(results.others)


def score(results: Results) -> str:
    """How many of each, and where this was measured."""
    compared, lost, about = sum(line.compared for line in results.lines), len(results.lost), results.about
    return (
        f"Of {compared} cases with a peer, {compared - lost} are not slower than the fastest peer and {lost} are "
        f"slower.\nMeasured on: {about['machine']}; threads: {about['threads']}; time: {about['time']}."
        + (f" Run again later: {about['rerun']}." if "rerun" in about else "")
    )


def headlines(results: Results) -> str:
    """What the README tells: the chosen cases, then the worst losses of all."""
    chosen = [line for start in HEADLINES for line in results.lines if line.title.startswith(start)]
    worst = [line for line in results.lost[:WORST] if line not in chosen]
    return f"{table([*chosen, *worst])}\n\n{score(results)}"


def table(lines: list[Line]) -> str:
    """One row a case."""
    return markdown_table(COLUMNS, [line.cells for line in lines])


#: What may stand between the marks, by name.
TABLES: dict[str, Callable[[Results], str]] = {
    "headlines": headlines,
    "score": score,
    "losses": losses,
    "wins": wins,
}


def renewed(page: str, results: Results) -> str:
    """The text of a page with its tables written from the results."""
    return SECTION.sub(lambda m: f"{m[1]}{TABLES[m[2]](results)}\n{m[4]}", page)


def write(folder: Path = RESULTS, check: bool = False) -> list[Path]:
    """Renew the pages, or only look; those that differed."""
    results, changed = Results.of(json.loads((folder / "results.json").read_text(encoding="utf-8"))), []
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if (after := renewed(before, results)) != before:
            changed.append(page)
            if not check:
                page.write_text(after, encoding="utf-8")
    return changed


@click.command()
@click.option("--results", default=RESULTS, type=click.Path(path_type=Path), help="Folder with results.json.")
@click.option("--check", is_flag=True, help="Change nothing; end with 1 where a page is out of date.")
def main(results: Path, check: bool) -> None:
    """Write the tables of the pages from the results."""
    changed = write(results, check)
    for page in changed:
        click.echo(f"{'out of date' if check else 'written'}: {page.relative_to(ROOT)}")
    sys.exit(1 if check and changed else 0)


if __name__ == "__main__":
    main()

"""Results as tables on the screen, as Markdown and as JSON; written anew after every contender."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.bars import OURS, Verdict
from benchmarks.growth import Grown
from benchmarks.race import Outcome, Result

COLUMNS = ("contender", "seconds", "× ours", "accuracy", "passes", "memory / X", "tol", "note")
GROWTH_COLUMNS = ("growth", "exponent", "seconds by size", "passes by size", "bar")
MARKS = {"met": "✓ met", "missed": "✗ missed", "open": "– open"}


@dataclass
class Report:
    """Everything that was measured in one run."""

    about: dict[str, str]
    quick: bool = False
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    growths: dict[str, Grown] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write results.md and results.json."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text(self.markdown(), encoding="utf-8")
        (folder / "results.json").write_text(json.dumps(_plain(self.to_dict()), indent=1), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "about": self.about,
            "quick": self.quick,
            "cases": [o.to_dict() for o in self.outcomes.values()],
            "growth": [g.to_dict() for g in self.growths.values()],
        }

    def markdown(self) -> str:
        """The whole report."""
        parts = ["# Benchmarks", _about(self.about)]
        if self.quick:
            parts.append("Quick run: small sizes and short caps. Bars that are about the full sizes are left out.")
        parts.append(_summary(self.verdicts(), self.quick))
        for outcome in self.outcomes.values():
            parts += [f"## {outcome.case.title}", _stated(outcome), markdown_table(COLUMNS, outcome_rows(outcome))]
            parts.append("\n".join(f"- {_verdict_words(v)}" for v in outcome.verdicts))
        if self.growths:
            parts += ["## Growth", markdown_table(GROWTH_COLUMNS, [growth_row(g) for g in self.growths.values()])]
        parts += ["## Settings", _settings(self.outcomes)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def verdicts(self) -> list[tuple[str, Verdict]]:
        """All bars, with the case that each is about."""
        out = [(o.case.title, v) for o in self.outcomes.values() for v in o.verdicts]
        return out + [(g.name, g.verdict) for g in self.growths.values() if g.verdict is not None]


def outcome_rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """The cells of a case's table, one row a contender."""
    ours = next((r.seconds for r in outcome.results if r.name == OURS and not r.status), math.nan)
    return [_row(r, ours, outcome.case.target) for r in outcome.results]


def _row(r: Result, ours: float, target: float) -> tuple[str, ...]:
    if not r.runs:
        return (r.name, r.status or "no answer", "", "", "", "", "", r.note)
    accuracy = f"{r.accuracy:.1e}" + ("" if r.reached else f" > {target:g}")
    if r.status:
        return (r.name, r.status, "", accuracy, "", _number(r.memory), f"{r.tol:g}", r.note)
    tol = "" if r.tol in (0.0, 1.0) else f"{r.tol:g}"
    ratio, passes, memory = _number(r.seconds / ours), _number(r.passes), _number(r.memory)
    return (r.name, f"{r.seconds:.3g}", ratio, accuracy, passes, memory, tol, r.note)


def growth_row(grown: Grown) -> tuple[str, ...]:
    """The cells of one line of the growth table."""
    verdict = grown.verdict
    return (
        grown.name,
        _number(grown.exponent),
        ", ".join(f"{n}: {t:.3g}" for n, t in zip(grown.sizes, grown.seconds, strict=True)),
        ", ".join(_number(p) for p in grown.passes),
        grown.note if verdict is None else _verdict_words(verdict),
    )


def screen_table(outcome: Outcome) -> Table:
    """A case for the terminal."""
    caption = "\n".join(_verdict_words(v) for v in outcome.verdicts)
    table = Table(title=outcome.case.title, caption=caption or None, title_justify="left", caption_justify="left")
    for k, name in enumerate(COLUMNS):
        table.add_column(name, justify="left" if k in (0, len(COLUMNS) - 1) else "right")
    for row, result in zip(outcome_rows(outcome), outcome.results, strict=True):
        table.add_row(*row, style="bold" if result.ours else "" if result.reached else "dim")
    return table


def growth_table(growths: list[Grown]) -> Table:
    """The growth for the terminal."""
    table = Table(*GROWTH_COLUMNS, title="Growth", title_justify="left")
    for grown in growths:
        table.add_row(*growth_row(grown))
    return table


def markdown_table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table; a bar in a cell is written so that it does not end the cell."""
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _verdict_words(v: Verdict) -> str:
    return f"{MARKS[v.mark]}: {v.bar}: {v.found}"


def _summary(verdicts: list[tuple[str, Verdict]], quick: bool) -> str:
    if not verdicts:
        return ""
    rows = [(case, v.bar, v.found, MARKS[v.mark]) for case, v in verdicts]
    met = sum(v.mark == "met" for _, v in verdicts)
    heading = f"## Bars: {met} of {len(verdicts)} met" + (" at quick sizes" if quick else "")
    return heading + "\n\n" + markdown_table(("case", "bar", "measured", "verdict"), rows)


def _stated(outcome: Outcome) -> str:
    case = outcome.case
    return f"Accuracy: {case.measured} <= {case.target:g}. A fit is stopped after {case.cap:g} s. {_doc(case.make)}"


def _doc(function: Any) -> str:
    return "Data: " + " ".join((function.__doc__ or "").split())


def _settings(outcomes: dict[str, Outcome]) -> str:
    """How every contender is set, each once."""
    seen: dict[str, list[str]] = {}
    for outcome in outcomes.values():
        for contender in outcome.case.contenders:
            names = seen.setdefault(contender.settings, [])
            if contender.name not in names:
                names.append(contender.name)
    return "\n".join(f"- **{', '.join(names)}**: {text}" for text, names in seen.items())


def _about(about: dict[str, str]) -> str:
    return "\n".join(f"- {key}: {value}" for key, value in about.items())


def _plain(value: Any) -> Any:
    """The same with null for what JSON cannot say."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""The results as pictures: seconds by contender for each case, and growth."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.growth import Grown
from benchmarks.race import Outcome

OURS, PEER, SHORT = "#c2410c", "#64748b", "#cbd5e1"
ACROSS = 3
#: A panel leaves room for so many lines, so that bars of short ones are not thick.
FEWEST = 8


def plot_times(outcomes: list[Outcome], file: Path) -> None:
    """One panel a case, seconds on a logarithmic axis. Peers that miss the accuracy are pale, with what they reach;
    so are those stopped at the cap."""
    shown = [o for o in outcomes if any(r.runs or r.status.startswith(">") for r in o.results)]
    if not shown:
        return
    plt = _pyplot()
    down = math.ceil(len(shown) / ACROSS)
    tallest = max(len(o.results) for o in shown)
    figure, axes = plt.subplots(down, ACROSS, figsize=(5.2 * ACROSS, (0.8 + 0.24 * tallest) * down), squeeze=False)
    for axis in axes.ravel()[len(shown) :]:
        axis.set_visible(False)
    for axis, outcome in zip(axes.ravel(), shown, strict=False):
        _panel(axis, outcome)
    legend = "seconds; red: convexcls, its proof included; grey: peers that reach the accuracy; pale: those that do not"
    figure.suptitle(f"{legend} (what they reach is beside the bar) or were stopped", fontsize=9, x=0.01, ha="left")
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def _panel(axis: Any, outcome: Outcome) -> None:
    stopped = [r for r in outcome.results if r.status.startswith(">")]
    lines = [r for r in outcome.results if r.runs and not r.status] + stopped
    for k, r in enumerate(lines):
        over = bool(r.status)
        seconds = r.cap if over else r.seconds
        axis.barh(k, seconds, color=OURS if r.ours else PEER if r.reached else SHORT, height=0.7)
        words = f" {r.status}" if over else f" {seconds:.3g} s"
        axis.text(seconds, k, words + ("" if r.reached or over else f", {r.accuracy:.0e}"), va="center", fontsize=7)
    axis.set_yticks(range(len(lines)), [r.name for r in lines], fontsize=7)
    axis.set_ylim(max(len(lines), FEWEST) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.xaxis.set_minor_formatter("")
    times = [r.cap if r.status else r.seconds for r in lines]
    axis.set_xlim(min(times) / 3, max(times) * 12)
    axis.tick_params(axis="x", labelsize=7)
    axis.set_title(outcome.case.title, fontsize=8, loc="left")
    axis.spines[["top", "right"]].set_visible(False)


def plot_growth(growths: list[Grown], file: Path) -> None:
    """Seconds over size, both logarithmic; one panel for each size that varies."""
    if not growths:
        return
    plt = _pyplot()
    varied = sorted({g.varied for g in growths})
    figure, axes = plt.subplots(1, len(varied), figsize=(6.5 * len(varied), 4.5), squeeze=False)
    for axis, size in zip(axes.ravel(), varied, strict=True):
        for grown in (g for g in growths if g.varied == size):
            axis.plot(grown.sizes, grown.seconds, marker="o", label=f"{grown.name}: {grown.exponent:.2f}")
        axis.set(xscale="log", yscale="log", xlabel=size, ylabel="seconds", title=f"growth in {size}")
        axis.legend(fontsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters as text, not as shapes
    import matplotlib.pyplot as plt

    return plt

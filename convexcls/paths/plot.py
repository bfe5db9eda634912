"""A path as a picture: every coefficient against the parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from convexcls.paths.result import Path

Array = NDArray[np.float64]

AGAINST = ("log", "linear", "norm")
#: More lines than this have no names beside them.
MOST_NAMED = 20
#: Each as often as there are colours.
STROKES = ("-", "--", ":", "-.")


def plot_path(path: Path, ax: Axes | None = None, against: str = "log") -> Axes:
    """Draw into ``ax`` (a new one by default) and return it."""
    if against not in AGAINST:
        raise ValueError(f"against is {against!r}: choose one of {', '.join(map(repr, AGAINST))}")
    order = np.argsort(path.values)
    coef = path.coef.reshape(len(path), -1)[order]
    if ax is None:
        ax = _new_axes()
    places = np.linalg.norm(coef, axis=1) if against == "norm" else path.values[order]
    names = _names(path, coef.shape[1])
    for k, name in enumerate(names):
        stroke = STROKES[k // 10 % len(STROKES)]
        ax.plot(places, coef[:, k], stroke, marker=".", markersize=4, linewidth=1.2, label=name)
    ax.axhline(0.0, color="0.6", linewidth=0.6, zorder=0)
    _mark_what_is_not_proved(path, ax, places, coef, order)
    _label(path, ax, against, places)
    if len(names) <= MOST_NAMED:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    return ax


def _new_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'convexcls[plots]'") from None
    return pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")[1]


def _names(path: Path, count: int) -> list[str]:
    data = path.solutions[0].data
    if count == data.d:
        names = list(data.features)
    else:
        names = [f"{feature} ({label})" for label in data.labels or () for feature in data.features]
    return [name.replace("$", r"\$") for name in names]  # else matplotlib reads it as a formula


def _mark_what_is_not_proved(path: Path, ax: Axes, places: Array, coef: Array, order: NDArray[np.intp]) -> None:
    for place, row, k in zip(places, coef, order, strict=True):
        status = path.statuses[k]
        if status == "undecided":
            ax.plot(np.full(row.size, place), row, "x", color="black", markersize=6)
        elif status != "optimal" and np.isfinite(place):
            ax.axvline(place, color="0.4", linewidth=0.8, linestyle=":")
            ax.annotate(
                status, (place, 0.98), xycoords=("data", "axes fraction"), rotation=90, ha="right", va="top",
                fontsize="small", color="0.3",
            )  # fmt: skip


def _label(path: Path, ax: Axes, against: str, places: Array) -> None:
    ax.set_title(f"{path.solutions[0].problem.name} along {path.parameter}")
    ax.set_ylabel("coefficient")
    ax.set_xlabel("norm of the coefficients" if against == "norm" else path.parameter)
    positive = places[places > 0]
    if against == "log" and positive.size:
        if np.any(places == 0):  # no penalty at all has a place, too
            ax.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.5)
            ax.set_xlim(-0.3 * float(positive.min()), 1.3 * float(positive.max()))
        else:
            ax.set_xscale("log")

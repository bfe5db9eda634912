"""Problems and tables as states: what the page begins with, and what it loads."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from convexcls import gallery
from convexcls.live.offers import OFFERS, SMALL, Offer
from convexcls.live.state import MAX_CLASSES, MAX_NAME_CHARACTERS, MAX_POINTS, new_state
from convexcls.plots.plane import Frame, frame_of
from convexcls.problem import Problem
from convexcls.tables import TableError, TableWarning
from convexcls.tables.delimited import Dialect
from convexcls.tables.files import Opened, table_of
from convexcls.wording import listed, shorten

#: The points of a new page: two classes that a slab separates, with two points that hold it on one side.
FIRST_POINTS = (
    *((-3.2, -1.1, 0), (-2.5, 0.8, 0), (-1.9, -2.2, 0), (-1.2, -0.4, 0), (-3.6, 1.9, 0), (-0.6, -2.6, 0)),
    *((1.1, 0.9, 1), (2.4, -0.6, 1), (0.6, 2.3, 1), (3.1, 1.7, 1), (1.9, 2.9, 1), (3.5, -1.3, 1)),
)
FIRST_FRAME = (-6.0, 6.0, -4.0, 4.0)
#: A side of the frame is at most so many times the other, so that a picture is no strip.
MAX_ASPECT_RATIO = 2.0


class Unsuitable(ValueError):
    """A problem or a table that the page cannot show; the message says why and what to do."""


def first_state(model: str = "hard-margin") -> dict[str, Any]:
    """What a new page shows."""
    return new_state(FIRST_POINTS, ("A", "B"), ("x1", "x2"), FIRST_FRAME, model)


def state_of(problem: Problem, features: tuple[str, str] | None = None) -> dict[str, Any]:
    """The state that shows a problem; of more than two ``features`` two are named, and the problem is another one, on
    these alone."""
    data = problem.data
    if data is None or data.labels is None or data.classes is None:
        raise Unsuitable(f"the {problem.name} has no classes: the page shows classifiers")
    if data.weighted or data.expanded is not None or data.sparse:
        what = "weights" if data.weighted else "a basis" if data.expanded is not None else "a sparse matrix"
        raise Unsuitable(f"the {problem.name} was declared with {what}, which the page does not show")
    offered = _offered(problem)
    names = [str(name) for name in data.features]
    if features is None and data.d != 2:
        raise Unsuitable(f"the {problem.name} has {data.d} feature(s), and the page shows two: name two of several")
    chosen = list(names) if features is None else list(features)
    for name in chosen:
        if name not in names:
            raise Unsuitable(f"there is no feature {name!r}: the features are {listed(names)}")
    columns = np.asarray(data.matrix, dtype=float)[:, [names.index(name) for name in chosen]]
    parameters = _parameters(problem, OFFERS[offered])
    return _stated(columns, data.classes, data.labels, chosen, offered, parameters)


def _offered(problem: Problem) -> str:
    """The model's name among the offers."""
    said = problem.parameters
    for name, offer in OFFERS.items():
        fixed = offer.fixed if problem.kind != "kernel" else {"kernel": offer.fixed.get("kernel")}
        if problem.kind == offer.kind and all(said.get(key) == value for key, value in fixed.items()):
            return name
    raise Unsuitable(f"the page does not show the {problem.name}; it shows {listed(OFFERS, len(OFFERS))}")


def _parameters(problem: Problem, offer: Offer) -> dict[str, Any]:
    """The parameters that the page can set; an error where the others are not as the page has them."""
    settable = {slider.name for slider in offer.sliders} | set(offer.choices)
    found = {key: value for key, value in problem.parameters.items() if key in settable}
    for key, words in offer.choices.items():
        if key in found and found[key] not in words:
            raise Unsuitable(f"the page does not show the {problem.name} with {key}={found[key]!r}")
    shown = offer.declare(*SMALL, found).parameters
    for key, value in problem.parameters.items():
        if shown.get(key) != value:
            raise Unsuitable(
                f"the page shows the {problem.name} with {key}={shown.get(key)!r} only, this has {value!r}"
            )
    return found


def _stated(
    columns: Any,
    classes: Any,
    labels: Sequence[Any],
    features: Sequence[str],
    model: str,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    most = OFFERS[model].classes
    if len(labels) > most:
        raise Unsuitable(f"there are {len(labels)} classes, and the {OFFERS[model].title.lower()} shows {most}")
    if len(columns) > MAX_POINTS:
        raise Unsuitable(f"there are {len(columns):,} samples, and the page shows at most {MAX_POINTS}")
    points = [(*map(float, place), int(k)) for place, k in zip(columns, classes, strict=True)]
    named = [shorten(str(label), MAX_NAME_CHARACTERS) for label in labels]
    short = [shorten(name, MAX_NAME_CHARACTERS) for name in features]
    return new_state(points, named, short, _frame(columns), model, parameters)


def _frame(columns: Any) -> Frame:
    """The part of the plane around the points, with round numbers as its ends."""
    left, right, bottom, top = frame_of(np.asarray(columns, dtype=float))
    width, height = right - left, top - bottom
    more = max(0.0, height / MAX_ASPECT_RATIO - width), max(0.0, width / MAX_ASPECT_RATIO - height)
    left, right = left - more[0] / 2, right + more[0] / 2
    bottom, top = bottom - more[1] / 2, top + more[1] / 2
    unit = 10.0 ** math.floor(math.log10(max(right - left, top - bottom)) - 1)
    return (
        math.floor(left / unit) * unit,
        math.ceil(right / unit) * unit,
        math.floor(bottom / unit) * unit,
        math.ceil(top / unit) * unit,
    )


# ---- from the gallery and from tables -------------------------------------------------------------------


def from_gallery(name: str) -> dict[str, Any]:
    """The state of a problem of the gallery."""
    if name not in gallery.entries():
        raise Unsuitable(f"there is no gallery problem {shorten(name)!r}")
    return state_of(gallery.load(name))


def from_table(
    text: str, model: str, features: Sequence[str] | None = None, target: str | None = None
) -> dict[str, Any]:
    """A table as text with a header line: two columns of numbers (by default the first two) and the column of labels
    (by default the last); with the names of its columns, to choose others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        try:
            table = table_of([Opened("the table", text.encode(), "csv")], Dialect())
            numeric = [name for name in table.names if table[name].kind == "number"]
            target = target or table.names[-1]
            chosen = list(features or [name for name in numeric if name != target][:2])
            if len(chosen) != 2 or chosen[0] == chosen[1]:
                raise Unsuitable("the table needs two columns of numbers besides the labels")
            samples = table.samples(target, features=chosen, missing="drop")
        except TableError as error:
            raise Unsuitable(str(error)) from None
    columns, y = np.asarray(samples.X, dtype=float), np.asarray(samples.y)
    if columns.shape[1] != 2:
        raise Unsuitable(f"{listed(chosen)} are not two columns of numbers")
    labels, classes = np.unique(y, return_inverse=True)
    if not 2 <= len(labels) <= MAX_CLASSES:
        raise Unsuitable(f"column {target!r} has {len(labels)} labels: the page shows 2 or {MAX_CLASSES}")
    model = model if len(labels) <= OFFERS[model].classes else "softmax"
    state = _stated(columns, classes, list(map(_label, labels.tolist())), chosen, model)
    return {"state": state, "columns": list(table.names), "numeric": numeric, "target": target}


def _label(value: Any) -> str:
    """A label as text; a number that is whole without a point."""
    return f"{value:g}" if isinstance(value, float) else str(value)

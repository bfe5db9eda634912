"""What the page asks about: points with classes, one model or two, checked before anything is done with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from convexcls.data import GivenCells, Labels, Named
from convexcls.live.offers import OFFERS, Offer, solvers_of
from convexcls.models import Model
from convexcls.plots.plane import Frame
from convexcls.wording import did_you_mean, listed

STATE = "convexcls-state/1"
MAX_POINTS = 500
MAX_CLASSES, MAX_PANELS = 3, 2
MAX_NAME_CHARACTERS = 60
#: Beyond this a picture has no digits left.
LARGEST = 1e12
LEVELS = ("float", "exact")
FIELDS = {"schema", "points", "classes", "features", "frame", "panels", "level", "moving"}
PANEL_FIELDS = {"model", "parameters", "solver", "path"}


class StateError(ValueError):
    """A state that is none; the message names the field and says what it should be."""


@dataclass(frozen=True)
class Asked:
    """One model, by its name among the offers, with its parameters, the solver, and whether its path is wanted."""

    model: str
    parameters: Mapping[str, Any]
    solver: str
    path: bool

    @property
    def offer(self) -> Offer:
        """What is known of the model."""
        return OFFERS[self.model]


@dataclass(frozen=True)
class State:
    """Points (x, y, number of the class) in a frame, names of classes and features, the models asked for. While a
    point is ``moving``, what takes long and nobody reads meanwhile is left out."""

    points: tuple[tuple[float, float, int], ...]
    classes: tuple[str, ...]
    features: tuple[str, str]
    frame: Frame
    panels: tuple[Asked, ...]
    level: str
    moving: bool

    def declare(self, asked: Asked, exactly: bool = False) -> Model:
        """The problem of a panel; ``exactly`` takes every number as the decimal that it is written as."""
        doubles = np.array([[float(x), float(y)] for x, y, _ in self.points]).reshape(-1, 2)
        text = GivenCells(np.array([[repr(v) for v in row] for row in doubles.tolist()], dtype=object))
        X = Named(doubles, self.features, given=text if exactly and self.points else None)
        return asked.offer.declare(X, self.labels, asked.parameters)

    @property
    def labels(self) -> Labels:
        """The classes of the points, in the order of the page, without those that have no point."""
        numbers = [k for *_, k in self.points]
        present = sorted(set(numbers))
        places = np.array([present.index(k) for k in numbers], dtype=np.intp)
        return Labels(places, tuple(self.classes[k] for k in present))


def read_state(given: Any) -> State:
    """The state that a page sent, or an error that says what is wrong with it."""
    fields = _mapping("the state", given, FIELDS)
    if fields.get("schema") != STATE:
        raise StateError(f"schema is {_short(fields.get('schema'))}: it must be {STATE!r}")
    classes = _names("classes", fields.get("classes"), 2, MAX_CLASSES)
    if len(set(classes)) < len(classes):
        raise StateError("classes names one of them twice: each needs a name of its own")
    features = _names("features", fields.get("features"), 2, 2)
    points = _list("points", fields.get("points"), 0, MAX_POINTS)
    frame = tuple(_number(f"frame[{k}]", v) for k, v in enumerate(_list("frame", fields.get("frame"), 4, 4)))
    left, right, bottom, top = frame
    if not (left < right and bottom < top):
        raise StateError(f"frame is {list(frame)}: it must be [left, right, bottom, top], left < right, bottom < top")
    level, moving = fields.get("level", "float"), fields.get("moving", False)
    if level not in LEVELS:
        raise StateError(f"level is {_short(level)}: it must be one of {', '.join(LEVELS)}")
    if not isinstance(moving, bool):
        raise StateError(f"moving is {_short(moving)}: it must be true or false")
    panels = _list("panels", fields.get("panels"), 1, MAX_PANELS)
    return State(
        tuple(_point(k, point, len(classes)) for k, point in enumerate(points)),
        classes,
        (features[0], features[1]),
        (left, right, bottom, top),
        tuple(_panel(f"panels[{k}]", panel) for k, panel in enumerate(panels)),
        level,
        moving,
    )


def _point(k: int, given: Any, classes: int) -> tuple[float, float, int]:
    x, y, label = _list(f"points[{k}]", given, 3, 3)
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < classes:
        raise StateError(f"points[{k}][2] is {_short(label)}: it must be the number of a class, 0 to {classes - 1}")
    return _number(f"points[{k}][0]", x), _number(f"points[{k}][1]", y), label


def _panel(where: str, given: Any) -> Asked:
    fields = _mapping(where, given, PANEL_FIELDS)
    model, solver, path = fields.get("model"), fields.get("solver", "auto"), fields.get("path", False)
    if model not in OFFERS:
        meant = did_you_mean(model, OFFERS) if isinstance(model, str) else ""
        raise StateError(f"{where}.model is {_short(model)}{meant}: it must be one of {', '.join(OFFERS)}")
    if solver not in solvers_of(model):
        raise StateError(f"{where}.solver is {_short(solver)}: these take it: {', '.join(solvers_of(model))}")
    if not isinstance(path, bool):
        raise StateError(f"{where}.path is {_short(path)}: it must be true or false")
    return Asked(model, _parameters(f"{where}.parameters", model, fields.get("parameters", {})), solver, path)


def _parameters(where: str, model: str, given: Any) -> dict[str, Any]:
    offer = OFFERS[model]
    sliders = {slider.name: slider for slider in offer.sliders}
    out = {}
    for name, value in _mapping(where, given, {*sliders, *offer.choices}).items():
        if name in offer.choices:
            words = offer.choices[name]
            if not any(value is word or (isinstance(word, str) and value == word) for word in words):
                raise StateError(f"{where}.{name} is {_short(value)}: it must be one of {listed(words)}")
            out[name] = value
        else:
            out[name] = None if value is None and sliders[name].unbounded else _number(f"{where}.{name}", value)
    return out


def _mapping(where: str, given: Any, known: set[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise StateError(f"{where} is {_short(given)}: it must be an object")
    for name in given:
        if name not in known:
            raise StateError(f"{where} has the field {_short(name)}; its fields are {', '.join(sorted(known))}")
    return dict(given)


def _list(where: str, given: Any, least: int, most: int) -> list[Any]:
    if not isinstance(given, (list, tuple)):
        raise StateError(f"{where} is {_short(given)}: it must be a list")
    if not least <= len(given) <= most:
        expected = str(most) if least == most else f"{least} to {most}"
        raise StateError(f"{where} has {len(given)} entries: it must have {expected}")
    return list(given)


def _names(where: str, given: Any, least: int, most: int) -> tuple[str, ...]:
    names = _list(where, given, least, most)
    for k, name in enumerate(names):
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARACTERS:
            raise StateError(f"{where}[{k}] is {_short(name)}: it must be a name of 1 to {MAX_NAME_CHARACTERS} letters")
    return tuple(names)


def _number(where: str, value: Any) -> float:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not plain or not abs(value) <= LARGEST or not math.isfinite(value):
        raise StateError(f"{where} is {_short(value)}: it must be a number, at most {LARGEST:g} in size")
    return float(value) if not isinstance(value, int) else value


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a huge number"
    return text if len(text) <= 60 else text[:57] + "..."


def new_state(
    points: Any,
    classes: Any,
    features: Any,
    frame: Any,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    solver: str = "auto",
) -> dict[str, Any]:
    """A state as pages write it."""
    panel = {"model": model, "parameters": {**OFFERS[model].defaults, **(parameters or {})}, "solver": solver}
    return {
        "schema": STATE,
        "points": [list(point) for point in points],
        "classes": list(classes),
        "features": list(features),
        "frame": list(frame),
        "panels": [{**panel, "path": False}],
    }

"""The page in a notebook: the same drawing, answered by the kernel. Needs the extra ``live``."""

from __future__ import annotations

import json
import warnings
from importlib.resources import files
from typing import Any, Self

from convexcls.live.worker import replied

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError("the widget needs anywidget; install it with: pip install 'convexcls[live]'") from error


def _resource(name: str) -> str:
    return files("convexcls.live").joinpath(name).read_text(encoding="utf-8")


class Widget(anywidget.AnyWidget):
    """Points that can be dragged below a cell. ``state`` is what they are now, by the schema ``convexcls-state/1``;
    ``problem`` declares it.

    >>> import convexcls as cc
    >>> widget = cc.live(cc.load("twenty_points"))
    >>> widget.state["panels"][0]["model"], len(widget.state["points"]), widget.problem.solve().objective.__round__(6)
    ('hard-margin', 20, 0.444444)
    """

    _esm = _resource("live.js")
    _css = _resource("live.css")
    state = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, state: dict[str, Any]) -> None:
        from convexcls.live.offers import menu

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the widgets' own base
            super().__init__(state=state, menu=menu())
        self.on_msg(lambda _widget, message, _buffers: self._answer(message))

    @classmethod
    def of(cls, problem: Any = None, features: tuple[str, str] | None = None) -> Self:
        """The widget on a problem in the plane, on the name of one in the gallery, or on points of its own."""
        from convexcls.live.loading import first_state, from_gallery, state_of

        if problem is None:
            return cls(first_state())
        return cls(from_gallery(problem) if isinstance(problem, str) else state_of(problem, features))

    @property
    def problem(self) -> Any:
        """The problem on the points as they are now, of the first model that is shown."""
        from convexcls.live.state import read_state

        state = read_state(self.state)
        return state.declare(state.panels[0])

    def _answer(self, message: Any) -> None:
        """Answer a question of the drawing."""
        if not isinstance(message, dict) or type(number := message.get("number")) is not int:
            return
        kind = "state" if "state" in message else "load"
        wrong, text = replied(kind, message.get(kind) or {})
        name = "answer" if kind == "state" else "loaded"
        self.send({"number": number, **({"error": text} if wrong else {name: json.loads(text)})})

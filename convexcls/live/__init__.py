"""The page on which points are dragged and margins, multipliers and the proof follow: what it shows (``answer``), how
it is drawn (``live.js``), and its homes: a server on this machine, a widget of notebooks, the documentation.

``answer`` knows nothing of the web. Whatever draws sends it a state and shows what comes back, by the schemas
``convexcls-state/1`` and ``convexcls-picture/1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convexcls.live.widget import Widget

__all__ = ["answer", "live"]


def answer(state: Mapping[str, Any]) -> dict[str, Any]:
    """What a page shows of a state: see the schemas. A state that is none is a ``ValueError`` that names the field.

    >>> from convexcls.live import answer
    >>> panel = {"model": "hard-margin", "parameters": {}, "solver": "auto"}
    >>> frame = {"classes": ["A", "B"], "features": ["x1", "x2"], "frame": [-1, 5, -1, 5]}
    >>> state = {"schema": "convexcls-state/1", "points": [[0, 0, 0], [3, 4, 1]], "panels": [panel], **frame}
    >>> shown = answer(state)["panels"][0]
    >>> shown["status"], round(shown["objective"], 6), [round(alpha, 6) for alpha in shown["discs"]["values"]]
    ('optimal', 0.08, [0.08, 0.08])
    """
    from convexcls.live.answering import answer

    return answer(state)


def live(problem: Any = None, features: tuple[str, str] | None = None) -> Widget:
    """A widget of a notebook on which points are dragged, and margins, multipliers and the proof follow (extra
    ``live``): on a problem in the plane, on the name of one in the gallery, or on two classes of its own. Of a problem
    with more than two ``features`` two are named, and the widget's problem is another one, on these alone.

    >>> import convexcls as cc
    >>> cc.live("xor_hard_margin").problem.solve().status
    'infeasible'
    """
    from convexcls.live.widget import Widget

    return Widget.of(problem, features)

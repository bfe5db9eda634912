"""What all displays share: from a solution to what is drawn, from there to the axes, and to words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.plots import style
from convexcls.plots.style import Axes, Figure
from convexcls.solution import Solution

__all__ = ["Axes", "Display", "Picture", "one_solution", "solutions_of"]


class Display(ABC):
    """A picture in the manner of scikit-learn's displays: what is drawn is in plain attributes, ``plot`` draws it, and
    afterwards ``ax_`` and ``figure_`` say where.

    ``of`` works out what is drawn and draws nothing; it raises ``NoAnswer`` where the picture makes no sense.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1]).solve()
    >>> display = cc.plots.HullsDisplay.of(s)  # nothing is drawn yet
    >>> display.title
    'Convex hulls of the classes, 5 apart'
    >>> display.plot().ax_.get_title() == display.title
    True
    """

    #: The name of the picture on the command line and in reports.
    kind: ClassVar[str]
    #: The title, with places for attributes.
    heading: ClassVar[str] = ""
    size: ClassVar[tuple[float, float]] = (7.0, 4.4)
    #: Whether it is drawn where it is asked for only, and not among the pictures that suit a solution.
    on_request: ClassVar[bool] = False

    ax_: Axes
    figure_: Figure

    @classmethod
    @abstractmethod
    def of(cls, *args: Any, **options: Any) -> Self:
        """What is drawn of a solution."""

    @classmethod
    def from_solution(cls, solution: Solution, *, ax: Axes | None = None, **options: Any) -> Self:
        """The picture of a solution, drawn into ``ax`` (a new one by default). The options are those of ``of``."""
        if not hasattr(solution, "certificate"):
            raise TypeError(f"{type(solution).__name__} is no solution: give what solve() returns")
        return cls.of(solution, **options).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, ax: Axes | None = None, **options: Any) -> Self:
        """The same of a fitted estimator, by its ``solution_``. Some pictures take other samples X to show."""
        if X is not None:
            options["X"] = X
        return cls.from_solution(one_solution(estimator, cls.__name__), ax=ax, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}>"

    def _repr_png_(self) -> tuple[bytes, dict[str, str]] | None:
        """For notebooks, which show pixels whether they are trusted or not; but what is drawn already they show by
        themselves."""
        if hasattr(self, "figure_"):
            return None
        picture = Picture.of(self)
        with np.errstate(all="ignore"):  # where numbers end, so do the ticks of an axis
            picture.figure().savefig(drawn := BytesIO(), format="png", dpi=100)
        return drawn.getvalue(), {"alt": picture.alt}

    @property
    def title(self) -> str:
        """What stands above the picture."""
        return style.plain(self.heading.format(self), 80)

    @abstractmethod
    def describe(self) -> str:
        """What the picture shows, in words and numbers, for those who do not see it."""

    @abstractmethod
    def draw(self, ax: Axes) -> None:
        """Draw into the axes, with labels; ``plot`` adds title and legend."""

    def plot(self, ax: Axes | None = None, *, title: bool = True, legend: bool = True) -> Self:
        """Draw into ``ax``, or into a new figure, and nowhere else."""
        with style.context():
            own = ax is None
            target = style.new_axes(self.size) if ax is None else ax
            try:
                self.draw(target)
                if title:
                    target.set_title(self.title)
                if legend:
                    style.add_legend(target)
            except BaseException:
                if own:  # a figure that nobody can reach would stay open
                    from matplotlib import pyplot

                    pyplot.close(target.figure)
                raise
        self.ax_, self.figure_ = target, target.figure  # type: ignore[assignment]
        return self


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture that is worked out but not drawn: ``draw(ax)`` draws it, ``alt`` says what it shows.

    ``name`` is that of the display (see ``KINDS``), ``size`` in inches.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [3, 4]], [0, 1]).solve()
    >>> picture = cc.plots.Picture.of(cc.plots.HullsDisplay.of(s))
    >>> picture.name, picture.title
    ('hulls', 'Convex hulls of the classes, 5 apart')
    >>> len(picture.figure().axes)  # a figure that only the caller holds
    1
    """

    name: str
    title: str
    alt: str
    draw: Callable[[Axes], None]
    size: tuple[float, float]

    @classmethod
    def of(cls, display: Display) -> Picture:
        """The picture of a display."""

        def draw(ax: Axes) -> None:
            display.plot(ax)

        return cls(display.kind, display.title.replace(r"\$", "$"), display.describe(), draw, display.size)

    def figure(self) -> Figure:
        """The picture in a figure of its own that only the caller holds: for a file."""
        figure = style.bare_figure(self.size)
        self.draw(figure.subplots())
        return figure


def solutions_of(estimator: Any) -> tuple[Solution, ...]:
    """The solutions behind a fitted estimator: one, or one a class where it is made of several problems."""
    found = getattr(estimator, "solution_", None)
    if found is None:
        name = type(estimator).__name__
        raise TypeError(f"{name} has no solution_: fit it first, and give an estimator of convexcls")
    solutions = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    if not all(isinstance(solution, Solution) for solution in solutions):
        raise ValueError(
            f"this {type(estimator).__name__} comes from a pickle without its training data, which a picture shows: "
            "fit with keep_data=True before pickling, or fit again"
        )
    if getattr(estimator, "priors", None) is not None:
        raise ValueError(
            f"the priors given to this {type(estimator).__name__} move its boundary away from that of its solution, "
            "whose priors are the shares of the classes: draw it with scikit-learn's DecisionBoundaryDisplay, or give "
            "no priors"
        )
    return solutions


def one_solution(estimator: Any, display: str) -> Solution:
    """The one solution behind a fitted estimator."""
    found = solutions_of(estimator)
    if len(found) != 1:
        raise ValueError(
            f"this {type(estimator).__name__} is made of {len(found)} problems: choose one, as in "
            f"{display}.from_solution(estimator.solution_[0])"
        )
    return found[0]

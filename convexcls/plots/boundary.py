"""The decision boundary: margins, support points, slack, mistakes; of one classifier or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.data import DataError
from convexcls.plots import style
from convexcls.plots.density import FEWEST
from convexcls.plots.display import Axes, Display, solutions_of
from convexcls.plots.from_solution import (
    SEVERAL_BORDERS,
    Shown,
    check_point,
    equation,
    linear_coef,
    misclassified,
    sample_multipliers,
    shown_samples,
    slab,
    training_samples,
    verdict_words,
)
from convexcls.plots.pipeline import Steps
from convexcls.plots.plane import Field, Frame, Score, View, choose_view, feet, field_of, frame_of, score_of
from convexcls.plots.points import NOBODY, Points, evenly, thinned
from convexcls.solution import Solution

#: More slack lines than this hide each other.
MAX_SLACK_LINES = 300
#: A margin this close to the slab's counts as on it: no slack line is drawn.
ON_THE_MARGIN = 1e-6


@dataclass(eq=False, repr=False)
class BoundaryDisplay(Display):
    """Where a classifier's answer changes, in the plane of ``view``.

    ``boundaries`` has for each classifier the lines f = 0 (of several classes the borders of their regions), each an
    array of places, one a row; ``margins`` the lines f = -slab and f = +slab of the first that has a slab. ``slack`` is
    an array of segments (m x 2 x 2), from samples short of their margin to it. ``fields`` are the scores on a grid.

    ``names`` and ``equations`` are those of the classifiers, ``points`` the samples shown.

    >>> import convexcls as cc
    >>> s = cc.HardMarginSVM([[0, 0], [1, 2], [3, 0], [4, 1]], ["a", "a", "b", "b"]).solve()
    >>> display = cc.plots.BoundaryDisplay.from_solution(s)
    >>> display.ax_.get_title(), display.slab, display.points.support.tolist()
    ('Boundary of hard-margin SVM', 1.0, [0, 1, 2])
    """

    kind: ClassVar[str] = "boundary"

    points: Points
    view: View
    frame: Frame
    names: tuple[str, ...]
    fields: tuple[Field, ...]
    boundaries: tuple[list[Array], ...]
    equations: tuple[str, ...]
    slab: float | None = None
    slab_of: int = 0
    margins: tuple[list[Array], list[Array]] = field(default_factory=lambda: ([], []))
    slack: Array = field(default_factory=lambda: np.empty((0, 2, 2)))
    slack_rows: int = 0

    @classmethod
    def of(cls, solution: Solution, X: Any = None, y: Any = None, *, features: tuple[Any, Any] | None = None) -> Self:
        """The boundary of one classifier. ``features`` names two features to draw, by name or number; ``X`` and ``y``
        are samples to show in place of the training samples."""
        return cls.of_several([solution], X=X, y=y, features=features)

    @classmethod
    def of_several(
        cls,
        solutions: Sequence[Solution],
        names: Sequence[str] | None = None,
        *,
        X: Any = None,
        y: Any = None,
        features: tuple[Any, Any] | None = None,
    ) -> Self:
        """The boundaries of classifiers on the same features; of one without a minimum, where the solver stopped."""
        check_together(solutions, names, own=X is None)
        solutions = [replace(s, at_last_point=True) for s in solutions]
        first, shown = solutions[0], shown_samples(solutions[0], X, y)
        mistakes = [misclassified(s.decision_function(shown.samples), shown.classes) for s in solutions]
        held = next((s for s in solutions if s.data.signs is not None and slab(s) is not None), None)
        support = held.support if held is not None and shown.own else NOBODY
        called = tuple(names or (s.problem.name + verdict_words(s) for s in solutions))
        who = [style.plain(name) for name, found in zip(called, mistakes, strict=True) if found.size]
        wrong = np.unique(np.concatenate(mistakes))
        rows = thinned(shown.classes, wrong, support)
        view = choose_view(shown.samples, shown.names, linear_coef(first), features, rows)
        if len(solutions) > 1 and shown.d > 2:
            view = view.as_section()
        alpha = np.empty(0) if held is None else sample_multipliers(held)[support]
        by = f" by {', '.join(who)}" if len(solutions) > 1 else ""
        marks = {"support": support, "mistakes": wrong, "alpha": alpha, "mistakes_of": by}
        points, frame = seen(shown, rows, view, rings="support points, size by α", **marks)
        fields = tuple(field_of(s, view, frame) for s in solutions)
        lines = tuple(f.lines(0.0) if f.values.ndim == 2 else f.borders() for f in fields)
        out = cls(points, view, frame, called, fields, lines, tuple(equation(s) for s in solutions))
        if held is not None:
            out.slab_of = list(solutions).index(held)
            out._add_slab(held, shown)
        return out

    @classmethod
    def of_one_vs_rest(
        cls,
        solutions: Sequence[Solution],
        labels: Sequence[Any],
        *,
        X: Any = None,
        y: Any = None,
        features: tuple[Any, Any] | None = None,
    ) -> Self:
        """The regions of a classifier that is made of one solution for each label against the rest: a sample belongs to
        the label with the largest score."""
        if len(labels) != len(solutions):
            raise ValueError(f"there are {len(labels)} labels for {len(solutions)} solutions: give one for each")
        check_together(solutions, None, own=False)

        def score(X: Any) -> Array:
            return np.column_stack([s.decision_function(X) for s in solutions])

        shown = one_vs_rest_samples(solutions, tuple(labels))
        if X is not None:
            shown = shown.replaced_by(X, y, lambda: np.array(labels)[score(X).argmax(axis=1)])
        wrong = misclassified(score(shown.samples), shown.classes)
        rows = thinned(shown.classes, wrong)
        coefs = [linear_coef(s) for s in solutions]
        coef = None if any(c is None for c in coefs) else np.array(coefs)
        view = choose_view(shown.samples, shown.names, coef, features, rows)
        points, frame = seen(shown, rows, view, support=NOBODY, mistakes=wrong)
        scores = field_of(solutions[0], view, frame, lambda places: score(view.lift(places)))
        name = f"{solutions[0].problem.name}, one against the rest"
        return cls(points, view, frame, (name,), (scores,), (scores.borders(),), (SEVERAL_BORDERS,))

    @classmethod
    def of_pipeline(
        cls, pipeline: Any, X: Any, y: Any = None, *, features: tuple[Any, Any] | None = None, name: str = ""
    ) -> Self:
        """The boundary of a fitted Pipeline on the axes of the samples ``X`` that it takes, with their labels ``y`` (by
        default those predicted): what comes before its last step bends or stretches the plane of that step."""
        steps = Steps.of(pipeline, X, cls.__name__)
        solution, shown, support = steps.solution, steps.shown(y), NOBODY
        score = steps.score
        scores = score(shown.samples)
        wrong = misclassified(scores, shown.classes)
        if solution.data.signs is not None and slab(solution) is not None and steps.are_training_samples(y):
            support = solution.support
        rows = thinned(shown.classes, wrong, support)
        view = choose_view(shown.samples, shown.names, None, features, rows)
        alpha = sample_multipliers(solution)[support] if support.size else np.empty(0)
        marks = {"mistakes": wrong, "rings": "support points, size by α"}
        points = Points.of(shown, rows, view, support=support, alpha=alpha, **marks)
        frame = frame_of(points.places, view.is_line)
        over = field_of(solution, view, frame, lambda places: score(view.lift(places)))
        lines = over.lines(0.0) if over.values.ndim == 2 else over.borders()
        called = name or f"{solution.problem.name} after {steps.before}"
        out = cls(
            points,
            view,
            frame,
            (called,),
            (over,),
            (lines,),
            (f"drawn on the axes as they were before {steps.before}",),
        )
        if solution.data.signs is not None and (held := slab(solution)) is not None:
            out.slab, out.margins = held, (over.lines(-held), over.lines(held))
        return out

    @classmethod
    def from_solutions(
        cls,
        solutions: Sequence[Solution],
        names: Sequence[str] | None = None,
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Several classifiers on one picture, drawn into ``ax``; the options are those of ``of_several``."""
        return cls.of_several(solutions, names, **options).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, ax: Axes | None = None, **options: Any) -> Self:
        """The boundary of a fitted estimator. Where it is made of several problems, each is taken for one class of
        ``classes_`` against the rest. A Pipeline is drawn among samples ``X`` as they were before its first step."""
        if hasattr(estimator, "steps"):
            return cls.of_pipeline(estimator, X, **options).plot(ax)
        solutions = solutions_of(estimator)
        if len(solutions) == 1:
            return cls.of(solutions[0], X, **options).plot(ax)
        return cls.of_one_vs_rest(solutions, estimator.classes_, X=X, **options).plot(ax)

    def _add_slab(self, held: Solution, shown: Shown) -> None:
        self.slab = slab(held)
        assert self.slab is not None
        scores = self.fields[self.slab_of]
        self.margins = scores.lines(-self.slab), scores.lines(self.slab)
        if not (shown.own and (shown.d <= 2 or (self.view.faithful and linear_coef(held) is not None))):
            return  # beside the samples, not through them: a line to the margin would be wrong
        short = short_of(held, self.slab)
        self.slack_rows = int(short.size)
        if short.size and self.points.density is None:
            chosen = evenly(np.intersect1d(short, self.points.rows), MAX_SLACK_LINES)
            begin = self.points.at(chosen)
            self.slack = slack_lines(held, self.slab, chosen, begin, score_of(held, self.view), self.frame)[1]

    # ---- drawing and telling ----------------------------------------------------------------------

    @property
    def title(self) -> str:
        if len(self.names) > 1:
            return f"Boundaries of {len(self.names)} classifiers"
        return style.plain(f"Boundary of {self.names[0]}", 80)

    def draw(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection

        if self.fields[0].values.ndim == 3:
            self._draw_regions(ax)
        if len(self.slack):
            shown = "" if len(self.slack) == self.slack_rows else f"{len(self.slack):,} of "
            words = f"slack ({shown}{self.slack_rows:,})"
            ax.add_collection(LineCollection(list(self.slack), **style.SLACK, label=words))
        for k, lines in enumerate(self.boundaries):
            colour, stroke = style.line_style(k).values()
            several = self.fields[k].values.ndim == 3
            name = style.plain(self.names[k]) if len(self.names) > 1 else "borders" if several else "boundary f = 0"
            name = name if self.equations[k] else "_no boundary"  # a leading _ keeps it out of the legend
            look: style.Look = {"colors": colour, "linestyles": [stroke], "linewidths": 1.8, "zorder": 2.5}
            ax.add_collection(LineCollection(lines, **look, label=name))
        if self.slab is not None:
            margins = [*self.margins[0], *self.margins[1]]
            ax.add_collection(LineCollection(margins, **style.MARGIN, label=f"margins f = ±{self.slab:.4g}"))
            scores = self.fields[self.slab_of]  # the slab itself, lightly
            ax.contourf(scores.u, scores.v, scores.values, [-self.slab, self.slab], colors=["0.92"], zorder=0)
        self.points.plot_in(ax, self.view, self.frame)

    def _draw_regions(self, ax: Axes) -> None:
        scores = self.fields[0]
        ground = np.array([style.pale(k) for k in range(len(self.points.labels))])[scores.values.argmax(axis=2)]
        ax.imshow(ground, origin="lower", extent=self.frame, aspect="auto", interpolation="nearest", zorder=0)

    def describe(self) -> str:
        lines = [f"{self.points.describe()}."]
        for name, words, found in zip(self.names, self.equations, self.boundaries, strict=True):
            seen = "" if found else ", outside of the picture"
            lines.append(
                f"The boundary of {name} is {words}{seen}." if words else f"{name} has no boundary: coef is 0."
            )
        if self.slab is not None:
            lines.append(f"The margins f = ±{self.slab:.4g} are drawn beside it.")
        if self.slack_rows:
            lines.append(f"{style.counted(self.slack_rows, 'sample')} fall short of their margin.")
        return " ".join(lines)


def seen(shown: Shown, rows: Indices, view: View, **marks: Any) -> tuple[Points, Frame]:
    """The samples as they are drawn, ``rows`` of them one by one or all by their density, and what frames them."""
    if shown.n < FEWEST:
        points = Points.of(shown, rows, view, **marks)
        return points, frame_of(points.places, view.is_line)
    frame = frame_of(view.places(shown.samples, shown.classes), view.is_line)
    return Points.dense(shown, view, frame, **marks), frame


def short_of(solution: Solution, slab: float) -> Indices:
    """The samples that fall short of their margin, more than by rounding."""
    return np.flatnonzero(solution.margins - slab < -ON_THE_MARGIN * max(slab, 1.0))


def slack_lines(
    solution: Solution, slab: float, rows: Indices, places: Array, score: Score, frame: Frame
) -> tuple[Indices, Array]:
    """The segments from samples at ``places`` to their margin (m x 2 x 2), with the rows for which one was found."""
    signs = solution.data.signs
    assert signs is not None
    if not rows.size:
        return rows, np.empty((0, 2, 2))
    end = feet(score, places, signs[rows] * slab, frame)
    found = np.all(np.isfinite(end), axis=1)
    return rows[found], np.stack([places[found], end[found]], axis=1)


# ---- several solutions on one picture -------------------------------------------------------------------


def check_together(solutions: Sequence[Solution], names: Sequence[str] | None, own: bool) -> None:
    """Refuse solutions that cannot be drawn together: they need the same features and, where their ``own`` samples are
    drawn, the same samples."""
    if not solutions:
        raise ValueError("there is no solution to draw: give at least one")
    if names is not None and len(names) != len(solutions):
        raise ValueError(f"there are {len(names)} names for {len(solutions)} solutions: give as many")
    for s in solutions:
        check_point(s, "boundary")
    first, *others = (training_samples(s) for s in solutions)
    for s, shown in zip(solutions[1:], others, strict=True):
        if shown.names != first.names:
            raise ValueError(
                f"the {s.problem.name} has the features {', '.join(shown.names[:6])}, the {solutions[0].problem.name} "
                f"{', '.join(first.names[:6])}: classifiers on one picture need the same"
            )
        if own and not shown.same_as(first):
            raise ValueError(
                f"the {s.problem.name} was declared on other samples or labels than the {solutions[0].problem.name}: "
                "say which samples to draw with X and y"
            )


def one_vs_rest_samples(solutions: Sequence[Solution], labels: tuple[Any, ...]) -> Shown:
    """The training samples, each with the label whose problem has it on its positive side."""
    sides = [s.data.signs for s in solutions]
    if any(side is None or side.size != solutions[0].data.n for side in sides):
        raise DataError("one against the rest needs problems of two classes on the same samples")
    above = np.array(sides) > 0
    if not np.all(above.sum(axis=0) == 1):
        row = int(np.flatnonzero(above.sum(axis=0) != 1)[0])
        raise DataError(f"row {row} is on the positive side of {above[:, row].sum()} problems: it must be of one")
    return replace(training_samples(solutions[0]), classes=above.argmax(axis=0).astype(np.intp), labels=labels)

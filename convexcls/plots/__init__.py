"""Pictures, by displays in the manner of scikit-learn: ``BoundaryDisplay.from_solution(solution)``.

Needs matplotlib (``pip install 'convexcls[plot]'``), which is imported when something is drawn.

>>> import convexcls as cc
>>> s = cc.HardMarginSVM([[0, 0], [1, 2], [3, 0], [4, 1]], [0, 0, 1, 1]).solve()
>>> [picture.name for picture in cc.plots.pictures(s)]
['boundary', 'hulls', 'projection', 'multipliers', 'slackness', 'slice']
"""

import numpy as np

from convexcls.plots.boundary import BoundaryDisplay
from convexcls.plots.convergence import AnswersDisplay, ConvergenceDisplay
from convexcls.plots.descent import DescentDisplay
from convexcls.plots.display import Display, Picture
from convexcls.plots.ellipses import EllipsesDisplay
from convexcls.plots.hulls import HullsDisplay
from convexcls.plots.hyperplane import HyperplaneDisplay
from convexcls.plots.losses import LossesDisplay, LossSliceDisplay
from convexcls.plots.mistakes import MistakesDisplay
from convexcls.plots.multipliers import MultipliersDisplay, SlacknessDisplay
from convexcls.plots.norms import NormsDisplay
from convexcls.plots.path import PathDisplay
from convexcls.plots.probability import ProbabilityDisplay
from convexcls.plots.profiles import ProfilesDisplay
from convexcls.plots.projection import ProjectionDisplay
from convexcls.plots.scoring import CalibrationDisplay, RocDisplay
from convexcls.plots.sigmoid import SigmoidDisplay
from convexcls.plots.surface import SurfaceDisplay
from convexcls.plots.trajectory import TrajectoryDisplay
from convexcls.problem import NoAnswer
from convexcls.solution import Solution

__all__ = [
    "KINDS",
    "AnswersDisplay",
    "BoundaryDisplay",
    "CalibrationDisplay",
    "ConvergenceDisplay",
    "DescentDisplay",
    "Display",
    "EllipsesDisplay",
    "HullsDisplay",
    "HyperplaneDisplay",
    "LossSliceDisplay",
    "LossesDisplay",
    "MistakesDisplay",
    "MultipliersDisplay",
    "NormsDisplay",
    "PathDisplay",
    "Picture",
    "ProbabilityDisplay",
    "ProfilesDisplay",
    "ProjectionDisplay",
    "RocDisplay",
    "SigmoidDisplay",
    "SlacknessDisplay",
    "SurfaceDisplay",
    "TrajectoryDisplay",
    "pictures",
]

#: The displays of a solution by name, in the order in which a report shows them, but for those drawn on request only.
KINDS: dict[str, type[Display]] = {
    display.kind: display
    for display in (
        BoundaryDisplay,
        HullsDisplay,
        ProbabilityDisplay,
        EllipsesDisplay,
        SurfaceDisplay,
        TrajectoryDisplay,
        SigmoidDisplay,
        RocDisplay,
        CalibrationDisplay,
        ProjectionDisplay,
        MultipliersDisplay,
        SlacknessDisplay,
        LossesDisplay,
        LossSliceDisplay,
        ConvergenceDisplay,
        HyperplaneDisplay,
        MistakesDisplay,
        DescentDisplay,
    )
}


def pictures(solution: Solution) -> list[Picture]:
    """The pictures that suit the solution, by its model, its verdict and its dimension, the most telling first.

    >>> import convexcls as cc
    >>> s = cc.LogisticMLE([[0, 0], [1, 3], [2, 0], [3, 1]], [0, 1, 0, 1], l2=1.0).solve()
    >>> [picture.name for picture in cc.plots.pictures(s)]
    ['boundary', 'probability', 'sigmoid', 'calibration', 'projection', 'losses', 'slice', 'convergence']
    """
    problem, found = solution.problem, []
    on_separability = problem.kind == "max-margin" or problem.separation_rows() is not None  # its verdict depends on it
    for display in KINDS.values():
        if display.on_request or (display is HullsDisplay and not on_separability):
            continue
        try:
            with np.errstate(all="ignore"):  # what overflows is not drawn
                shown = display.of(solution)
                if isinstance(shown, RocDisplay) and shown.auc == 1.0:
                    continue  # of separated classes every curve is the same
                found.append(Picture.of(shown))
        except NoAnswer:  # the picture makes no sense here: the display knows that best
            continue
    return found

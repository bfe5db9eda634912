"""Pictures, one display a file, in the manner of scikit-learn: ``BoundaryDisplay.from_solution(solution)``.

Needs matplotlib (``pip install 'convexcls[plot]'``), which is imported when something is drawn.

>>> import convexcls as cc
>>> s = cc.HardMarginSVM([[0, 0], [1, 2], [3, 0], [4, 1]], [0, 0, 1, 1]).solve()
>>> [picture.name for picture in cc.plots.pictures(s)]
['boundary', 'hulls', 'projection', 'multipliers', 'slackness', 'slice']
"""

from convexcls.plots.answers import AnswersDisplay
from convexcls.plots.boundary import BoundaryDisplay
from convexcls.plots.convergence import ConvergenceDisplay
from convexcls.plots.display import Display
from convexcls.plots.hulls import HullsDisplay
from convexcls.plots.losses import LossesDisplay
from convexcls.plots.multipliers import MultipliersDisplay
from convexcls.plots.path import PathDisplay
from convexcls.plots.probability import ProbabilityDisplay
from convexcls.plots.projection import ProjectionDisplay
from convexcls.plots.selection import KINDS, Picture, pictures
from convexcls.plots.slackness import SlacknessDisplay
from convexcls.plots.slices import LossSliceDisplay
from convexcls.plots.trajectory import TrajectoryDisplay

__all__ = [
    "KINDS",
    "AnswersDisplay",
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "Display",
    "HullsDisplay",
    "LossSliceDisplay",
    "LossesDisplay",
    "MultipliersDisplay",
    "PathDisplay",
    "Picture",
    "ProbabilityDisplay",
    "ProjectionDisplay",
    "SlacknessDisplay",
    "TrajectoryDisplay",
    "pictures",
]

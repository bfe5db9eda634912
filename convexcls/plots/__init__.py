"""Pictures, one display a file, in the manner of scikit-learn: ``BoundaryDisplay.from_solution(solution)``.

Needs matplotlib (``pip install 'convexcls[plot]'``), which is imported when something is drawn.
"""

from convexcls.plots.boundary import BoundaryDisplay
from convexcls.plots.display import Display
from convexcls.plots.hulls import HullsDisplay
from convexcls.plots.selection import KINDS, Picture, pictures

__all__ = ["KINDS", "BoundaryDisplay", "Display", "HullsDisplay", "Picture", "pictures"]

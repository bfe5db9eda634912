"""Proved digits of logistic and softmax regression, in ball arithmetic.

Their optimum is no rational number, so a proof of it is an interval with rational ends. ``enclose`` finds one as narrow
as asked for; ``check_enclosure`` proves it again from the problem alone.
"""

from convexcls.enclosure.enclose import check_enclosure, enclose
from convexcls.enclosure.result import Enclosure

__all__ = ["Enclosure", "check_enclosure", "enclose"]

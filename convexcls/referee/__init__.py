"""The referee: other people's fitted models, judged as answers to the convex programs that they really solved."""

from convexcls.referee.appraisal import Appraisal, Appraisals
from convexcls.referee.dispatch import certify

__all__ = ["Appraisal", "Appraisals", "certify"]

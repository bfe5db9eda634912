"""The solutions of a model as one of its parameters varies: the soft margin along C, a likelihood along l2."""

from convexcls.studies.paths.follow import VARIED, path
from convexcls.studies.paths.result import Path

__all__ = ["VARIED", "Path", "path"]

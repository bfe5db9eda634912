"""What happens if the data move: derivatives of an exact answer with the ranges in which they hold, and the influence
of each sample. ``active`` is the program on a fixed active set, ``ranges`` follows it along one number."""

from convexcls.studies.sensitivity.influence import Influence, influence
from convexcls.studies.sensitivity.ranges import Change, OneSided
from convexcls.studies.sensitivity.result import Sensitivity, sensitivity

__all__ = ["Change", "Influence", "OneSided", "Sensitivity", "influence", "sensitivity"]

"""Properties that are worked out once, without the lock that Python's own took until 3.12: it costs more than most of
what is kept. Two threads may work the same thing out twice, which changes nothing."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, TypeVar

T_co = TypeVar("T_co", covariant=True)

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property[T_co]):
        """The value of a method without arguments, kept in the object."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            value = kept[self.attrname] = self.func(instance)
            return value

"""Mappings that cannot be changed and yet be pickled and copied, with all that holds them: problems, solutions, proofs.

Python has no way to pickle a ``MappingProxyType``; ``copyreg`` is where one is registered.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any


def frozen(mapping: Mapping[Any, Any]) -> MappingProxyType[Any, Any]:
    """A copy of the mapping that cannot be changed."""
    return MappingProxyType(dict(mapping))


def without_cache(thing: Any) -> dict[str, Any]:
    """The state of an object without what its cached properties hold: that can be worked out again."""
    kept = dict(vars(thing))
    for cls in type(thing).__mro__:
        for name, value in vars(cls).items():
            if isinstance(value, cached_property):
                kept.pop(name, None)
    return kept


def _taken_apart(mapping: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return frozen, (dict(mapping),)


copyreg.pickle(MappingProxyType, _taken_apart)

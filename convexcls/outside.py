"""What comes from outside this package: what stands at ``package.module:Name``, and the entry points of installed
packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def brought(group: str) -> dict[str, EntryPoint]:
    """What installed packages bring, by name."""
    from importlib.metadata import entry_points  # not at import: it costs as much as all of ours

    return {point.name: point for point in entry_points(group=group)}


def owner(point: EntryPoint) -> str:
    """The package that brings it, for a sentence."""
    return "" if point.dist is None else f" of the package {point.dist.name!r}"


def loaded(point: EntryPoint, what: str) -> Any:
    """What an entry point names; a ``ValueError`` says which package is broken."""
    try:
        return point.load()
    except Exception as error:  # whatever somebody else's package does
        raise ValueError(
            f"the {what} {point.name!r}{owner(point)} cannot be loaded ({type(error).__name__}: {error}): mend or "
            "uninstall it"
        ) from error


def is_address(name: str) -> bool:
    """Whether it is of the form ``package.module:Name``.

    >>> from convexcls.outside import is_address
    >>> is_address("package.module:Name"), is_address("cvxpy:SCS"), is_address("C:\\\\data.csv")
    (True, True, False)
    """
    module, colon, attribute = name.partition(":")
    return bool(colon) and all(part.isidentifier() for part in [*module.split("."), *attribute.split(".")])


def at_address(address: str) -> Any:
    """What stands at ``package.module:Name``.

    >>> from convexcls.outside import at_address
    >>> at_address("fractions:Fraction")
    <class 'fractions.Fraction'>
    """
    module, _, attribute = address.partition(":")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise ValueError(f"{address!r}: the module {module!r} cannot be imported ({error})") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{address!r}: there is no {attribute!r} in the module {module!r}")
        found = getattr(found, part)
    return found

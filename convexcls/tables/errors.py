"""Errors and warnings of tables: what is wrong, where, and which option helps."""

from __future__ import annotations

from typing import Any

from convexcls.data import DataError


class TableError(DataError):
    """A table that cannot be used as it is. ``options`` are those that help, with a value to give them; the message
    names them as arguments, ``for_command_line`` as flags.

    >>> import convexcls as cc
    >>> cc.Table({"dose": [1.0, None], "sick": [0, 1]}).samples("sick")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    convexcls.tables.errors.TableError: row 1, column 'dose' is empty or missing: fill in, drop these rows, or ...
    """

    def __init__(self, message: str, **options: Any) -> None:
        self.plain, self.options = message, options
        shown = " or ".join(f"{name}={value!r}" for name, value in _each(options))
        super().__init__(message + (f" ({shown})" if shown else ""))

    def for_command_line(self) -> str:
        """The message with the options as they are typed."""
        shown = " or ".join(flag(name, value) for name, value in _each(self.options))
        return self.plain + (f" ({shown})" if shown else "")


class TableWarning(UserWarning):
    """A table that may not be meant as it stands.

    >>> import convexcls as cc
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     samples = cc.Table({"rownames": ["a", "b"], "x": [1, 2], "y": [0, 1]}).samples("y")
    ...
    >>> told[0].category is cc.TableWarning, str(told[0].message)
    (True, "the first column ('rownames') is left out: it names the rows")
    """


def _each(options: dict[str, Any]) -> list[tuple[str, Any]]:
    """The options with one value each."""
    several = [(name, v if isinstance(v, tuple) else (v,)) for name, v in options.items()]
    return [(name, value) for name, values in several for value in values]


def flag(name: str, value: Any) -> str:
    """An option with its value as on the command line."""
    text = str(value)
    if value is False:
        return f"--no-{name}"
    return f"--{name} {text!r}" if any(c in text for c in " ;|\t") else f"--{name} {text}"

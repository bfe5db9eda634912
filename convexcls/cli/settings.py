"""``key=value`` arguments, converted to the types that a model's signature or a solver's fields declare."""

from __future__ import annotations

import inspect
import math
import re
import types
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from convexcls.solvers.base import default_of
from convexcls.wording import did_you_mean

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WORDS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
FEW: dict[Any, dict[str, Any]] = {type(None): {"none": None}, bool: WORDS}
#: The types that a word can express and what they are called, the narrow ones first.
NAMES: dict[Any, str] = {
    type(None): "none",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word",
}
#: What a model takes by arguments of its own, and so not by --param.
RESERVED = ("X", "y", "intercept", "sample_weight")


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be set from the command line."""

    name: str
    hint: Any
    default: Any = None

    def __str__(self) -> str:
        return f"{self.name}={self.default} ({describe(self.hint)})"


def model_parameters(cls: type) -> dict[str, Parameter]:
    """The parameters of a model that a word or a number can set, from its signature."""
    hints = get_type_hints(cls.__init__)  # type: ignore[misc]
    out = {}
    for name, p in inspect.signature(cls.__init__).parameters.items():  # type: ignore[misc]
        if name != "self" and name not in RESERVED and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            hint = hints.get(name, Any)
            if members(hint):
                out[name] = Parameter(name, hint, p.default)
    return out


def takes(cls: type, name: str) -> bool:
    """Whether the model's signature has this argument."""
    return name in inspect.signature(cls.__init__).parameters  # type: ignore[misc]


def solver_options(cls: type) -> dict[str, Parameter]:
    """The options of a solver, from its fields."""
    hints = get_type_hints(cls)
    return {f.name: Parameter(f.name, hints[f.name], default_of(f)) for f in fields(cls)}


def read_settings(settings: Iterable[str], known: Mapping[str, Parameter], flag: str, owner: str) -> dict[str, Any]:
    """``("C=10", ...)`` as ``{"C": 10.0}``. A field that is a mapping is filled by ``field.key=value``."""
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name, text = name.strip(), text.strip()
        if not equals or not name or not text:
            raise click.UsageError(f"{flag} {setting!r}: write it as NAME=VALUE, for example {flag} {_example(known)}")
        field, dot, key = name.partition(".")
        if dot and key and field in known and is_mapping(known[field].hint):
            inner = out.setdefault(field, {})
            if key in inner:
                raise click.UsageError(f"{flag} {name} is given twice")
            inner[key] = guess(text)
            continue
        if name not in known:
            raise click.UsageError(unknown(name, known, flag, owner))
        if is_mapping(known[name].hint):
            raise click.UsageError(f"{flag} {name}: set its entries one by one, as {flag} {name}.KEY=VALUE")
        if name in out:
            raise click.UsageError(f"{flag} {name} is given twice")
        try:
            out[name] = convert(text, known[name].hint)
        except ValueError:
            raise click.UsageError(f"{flag} {name} is {text!r}: it must be {describe(known[name].hint)}") from None
    return out


def unknown(name: str, known: Mapping[str, Parameter], flag: str, owner: str) -> str:
    """What to say of a name that is not among the known ones."""
    if not known:
        return f"{flag} {name}: {owner} has nothing to set"
    listed = ", ".join(map(str, known.values()))
    return f"{flag}: {owner} has no {name!r}{did_you_mean(name, known)}; it has {listed}"


def _example(known: Mapping[str, Parameter]) -> str:
    first = next(iter(known.values()), None)
    return "NAME=1" if first is None else f"{first.name}={first.default}"


# ---- types ----------------------------------------------------------------------------------------------


def is_mapping(hint: Any) -> bool:
    """Whether the type is a mapping."""
    origin = get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, Mapping)


def members(hint: Any) -> list[Any]:
    """The alternatives of a type that a word can express, the narrow ones first."""
    if get_origin(hint) in (Union, types.UnionType):
        found = [member for alternative in get_args(hint) for member in members(alternative)]
        return sorted(found, key=lambda member: list(NAMES).index(member) if member in NAMES else -1)
    return [hint] if hint is Any or hint in NAMES or get_origin(hint) is Literal else []


def _choices(hint: Any) -> dict[str, Any]:
    """The words that a type takes, with their values, where these are few."""
    if get_origin(hint) is Literal:
        return {"none" if choice is None else str(choice): choice for choice in get_args(hint)}
    return FEW.get(hint, {})


def convert(text: str, hint: Any) -> Any:
    """The text as a value of the first alternative of the type that takes it; ValueError where none does."""
    for member in members(hint):
        with suppress(ValueError):
            return _convert(text, member)
    raise ValueError(text)


def _convert(text: str, hint: Any) -> Any:
    if hint is Any:
        return guess(text)
    if hint is str:
        return text
    if choices := _choices(hint):
        word = text if text in choices else text.lower()
        if word not in choices:
            raise ValueError(text)
        return choices[word]
    number = read_number(text)
    if hint is int and (number != int(number) or abs(number) > 2**53):
        raise ValueError(text)
    return int(number) if hint is int else number


def read_number(text: str) -> float:
    """A finite number in plain decimal notation; ValueError for anything else that Python would take."""
    if len(text) > 400 or not NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def guess(text: str) -> Any:
    """A value without a declared type: a whole number, a number, true or false, none, or the word."""
    with suppress(ValueError):
        return convert(text, int | float | None)
    return {"true": True, "false": False}.get(text.lower(), text)


def describe(hint: Any) -> str:
    """A type in words."""
    words: list[str] = []
    for member in members(hint):
        words += _choices(member) if get_origin(member) is Literal else [NAMES.get(member, "a value")]
    if is_mapping(hint):
        words.append("entries, each as NAME.KEY=VALUE")
    return " or ".join(dict.fromkeys(sorted(words, key=lambda w: w == "none")))

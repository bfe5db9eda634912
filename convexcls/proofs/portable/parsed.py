"""What a certificate file states, once it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Rows = Mapping[int, Fraction]


@dataclass(frozen=True)
class Box:
    """An interval for every unknown by its ends, with the digits asked for and the bits of the proof."""

    lower: Mapping[str, list[Fraction]]
    upper: Mapping[str, list[Fraction]]
    digits: int
    precision: int


@dataclass(frozen=True)
class Parsed:
    """A certificate as its file states it: nothing of it is proved, but all of it is well formed. ``parameters`` are as
    JSON has them, numbers still as text; multipliers that are zero are left out."""

    level: str
    verdict: str
    model: str
    parameters: Mapping[str, str | bool | None]
    tolerance: Fraction
    sha256: str
    samples: int
    features: int
    labels: tuple[str, ...] | None
    weighted: bool
    claim: Mapping[str, Fraction]
    notes: tuple[str, ...]
    point: Mapping[str, list[Fraction]] = field(default_factory=dict)
    multipliers: Mapping[str, Rows] = field(default_factory=dict)
    farkas: Mapping[str, Rows] = field(default_factory=dict)
    direction: Mapping[str, list[Fraction]] = field(default_factory=dict)
    enclosure: Box | None = None

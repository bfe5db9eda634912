"""The gallery: problem instances as data files, each with its known answer.

An entry is a TOML file beside a CSV with a header line. Neither is ever executed: numbers are read by a
strict pattern with a cap on their length, and a field that is not known is refused (problems/README.md).
"""

from __future__ import annotations

import csv
import inspect
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.basis import read_basis
from convexcls.data import GivenCells, Named
from convexcls.models import Model, by_kind
from convexcls.rational.numbers import read_exactly, remembered_number
from convexcls.wording import did_you_mean

MAX_FILE_BYTES = 16_000_000

#: 7, -7/3 or 0.25 exactly, 0.6931... where the digits go on; an exponent makes huge numbers of short text.
_KNOWN = re.compile(r"(-?[0-9]{1,400})(?:/([0-9]{1,400})|\.([0-9]{1,400})(\.\.\.)?)?")
_CELL = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")

#: The fields of each table with their types; those with a question mark may be left out.
_TOP = {
    "title": str,
    "derivation": str,
    "source?": str,
    "data?": str,
    "target": str,
    "features?": list,
    "weight?": str,
    "model": dict,
    "known": dict,
}
_MODEL = {"kind": str, "basis?": str, "parameters?": dict}
_ANSWER = {
    "verdict": str,
    "optimum?": (str, int),
    "coef?": list,
    "intercept?": (str, int),
    "support?": list,
    "intercept_interval?": list,
    "values?": dict,
    "multipliers?": dict,
    "direction?": list,
    "unique?": list,
}
_WORDS = {str: "text", list: "a list", dict: "a table", (str, int): "a number as text"}


class GalleryError(ValueError):
    """A gallery file that cannot be used; the message names the file and the field."""


@dataclass(frozen=True)
class Number:
    """A number of a known answer, as written and as a fraction; not ``exact`` where its digits go on."""

    text: str
    value: Fraction
    exact: bool

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class KnownAnswer:
    """What is known of the answer; ``None`` where the file does not say.

    ``optimum`` is the infimum where the verdict is unattained. ``multipliers`` prove an optimum, or are the
    Farkas vector of an infeasible problem; ``direction`` (coef, then intercept; all unknowns where there is no coef)
    proves an unattained one, which has no ``optimum`` where there is no bound. ``values`` is a solution by variable,
    for problems in other unknowns. ``unique`` names which of coef, intercept, values, multipliers all solutions share.
    """

    verdict: str
    optimum: Number | None
    coef: tuple[Number, ...] | None
    intercept: Number | None
    intercept_interval: tuple[Number, ...] | None
    support: tuple[int, ...] | None
    values: Mapping[str, tuple[Number, ...]]
    multipliers: Mapping[str, tuple[Number, ...]]
    direction: tuple[Number, ...] | None
    unique: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GalleryEntry:
    """One instance: the problem, its known answer and how that answer is derived."""

    name: str
    title: str
    derivation: str
    source: str
    path: Path
    problem: Model
    known: KnownAnswer


def directory() -> Path:
    """Where the gallery is: inside the installed package, or beside it in the source tree."""
    package = Path(__file__).resolve().parent
    inside = package / "problems"
    return inside if inside.is_dir() else package.parent / "problems"


def entries() -> list[str]:
    """The names of all gallery entries, sorted."""
    return sorted(path.stem for path in directory().glob("*.toml"))


def load(name_or_path: str | Path) -> Model:
    """The problem of a gallery entry: ``"two_points"``, ``"problems/two_points.toml"`` or any path."""
    return entry(name_or_path).problem


def entry(name_or_path: str | Path) -> GalleryEntry:
    """A gallery entry by name or path: the problem with its known answer."""
    path = _find(name_or_path)
    text = _read(path)
    try:
        raw = tomllib.loads(text, parse_float=_as_written)
    except (ValueError, RecursionError) as error:
        raise GalleryError(f"{path}: not TOML: {error}") from None
    top = _fields(path, "", raw, _TOP)
    problem = _model(path, top)
    known = _known(path, _fields(path, "known.", top["known"], _ANSWER), problem)
    return GalleryEntry(path.stem, top["title"], top["derivation"].strip(), top.get("source", ""), path, problem, known)


def files(name_or_path: str | Path) -> tuple[Path, ...]:
    """The files of a gallery entry: its TOML and the data that this names, as far as it can be read."""
    path = _find(name_or_path)
    try:
        return path, path.parent / str(tomllib.loads(_read(path)).get("data", f"{path.stem}.csv"))
    except (ValueError, RecursionError):
        return (path,)


def _as_written(text: str) -> float:
    """A number of TOML, which remembers what is written; infinities and NaN are doubles."""
    try:
        return remembered_number(read_exactly(text.replace("_", "")))
    except ValueError:
        return float(text)


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and path.suffix == "" and len(path.parts) == 1:
        path = directory() / f"{name_or_path}.toml"
    elif path.parent == Path("problems") and not path.is_file():
        path = directory() / path.name
    if path.suffix != ".toml":
        raise GalleryError(f"{path}: a gallery entry is a .toml file")
    return path


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise GalleryError(f"{path}: over {MAX_FILE_BYTES} bytes, a gallery file is small")
        if not path.is_file():
            raise GalleryError(f"{path}: not a regular file")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GalleryError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        meant = did_you_mean(path.stem, entries()) if isinstance(error, FileNotFoundError) else ""
        raise GalleryError(f"{path}: cannot be read: {error.strerror}{meant}") from None


def _fields(path: Path, where: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table, after a check of their names and types."""
    kinds = {name.rstrip("?"): kind for name, kind in known.items()}
    for name, value in values.items():
        if name not in kinds:
            raise GalleryError(f"{path}: {where}{name} is not a field; the fields are {', '.join(kinds)}")
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise GalleryError(f"{path}: {where}{name} is {_short(value)}, it must be {_WORDS[kinds[name]]}")
    for name in known:
        if not name.endswith("?") and name not in values:
            raise GalleryError(f"{path}: {where}{name} is missing")
    return dict(values)


def _model(path: Path, top: Mapping[str, Any]) -> Model:
    """The classifier that the file declares, on the data beside it."""
    fields, kinds = _fields(path, "model.", top["model"], _MODEL), by_kind()
    kind = fields["kind"]
    if kind not in kinds:
        raise GalleryError(f"{path}: model.kind is {_short(kind)}, choose one of {', '.join(kinds)}")
    signature = inspect.signature(kinds[kind])
    takes = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    settable = [name for name in takes if name != "sample_weight"]
    parameters: dict[str, Any] = {}
    for name, value in fields.get("parameters", {}).items():
        if name not in settable or not isinstance(value, (bool, int, float, str)):
            expected = f"it takes numbers and words for {', '.join(settable) or 'nothing'}"
            raise GalleryError(f"{path}: model.parameters.{name} is not a parameter of {kind}; {expected}")
        parameters[name] = None if value == "none" else value  # TOML has no word for None
    table, labels, weights = _data(path, top)
    if weights is not None:
        if "sample_weight" not in takes:
            raise GalleryError(f"{path}: weight is given, but {kind} takes no weights")
        parameters["sample_weight"] = weights
    build: Any = kinds[kind]
    try:
        samples = read_basis(fields["basis"])(table) if "basis" in fields else table
        model: Model = build(samples, labels, **parameters)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise GalleryError(f"{path}: the {kind} model refuses it: {error}") from None
    return model


def _data(path: Path, top: Mapping[str, Any]) -> tuple[Named, list[Any], list[Decimal] | None]:
    """Features, labels and weights; labels stay text unless all of them are numbers."""
    name = top.get("data", f"{path.stem}.csv")
    if Path(name).name != name or not name.endswith(".csv"):
        raise GalleryError(f"{path}: data is {_short(name)}, it must name a .csv file in the same folder")
    file = path.parent / name
    cells = _read_csv(file)
    target, weight = top["target"], top.get("weight")
    others = [target] if weight is None else [target, weight]
    features = top.get("features", [column for column in cells if column not in others])
    for column in (*others, *features):
        if not isinstance(column, str) or column not in cells:
            raise GalleryError(f"{path}: there is no column {_short(column)}; {name} has {', '.join(cells)}")
    if not features or len({*others, *features}) < len(others) + len(features):
        raise GalleryError(f"{path}: features must be columns other than target and weight, each once")

    def floats(column: str) -> Array:
        for k, cell in enumerate(cells[column], 1):
            if not _CELL.fullmatch(cell):
                raise GalleryError(f"{file}: row {k}, column {column!r} is {_short(cell)}, not a number")
        return np.array([float(cell) for cell in cells[column]])

    labels = _labels(cells[target], real=top["model"].get("parameters", {}).get("coding") == "real")
    text = GivenCells(np.array([cells[f] for f in features], dtype=object).T)
    table = Named(np.column_stack([floats(f) for f in features]), tuple(features), given=text)
    if weight is None:
        return table, labels, None
    floats(weight)  # refuses what is no number
    return table, labels, [Decimal(cell) for cell in cells[weight]]


def _labels(cells: list[str], real: bool) -> list[Any]:
    """Labels as text, or as numbers where all of them are; ``real`` targets as the decimals that they are."""
    if not all(_CELL.fullmatch(cell) for cell in cells):
        return cells
    if real:
        return [Decimal(cell) for cell in cells]
    numbers = [float(cell) for cell in cells]
    return [int(number) for number in numbers] if all(map(float.is_integer, numbers)) else numbers


def _read_csv(file: Path) -> dict[str, list[str]]:
    """The cells by column."""
    reader = csv.reader(io.StringIO(_read(file), newline=""))
    try:
        lines = [[cell.strip() for cell in line] for line in reader]
    except csv.Error as error:
        raise GalleryError(f"{file}: not CSV: {error}") from None
    if len(lines) < 2 or "" in lines[0] or len(set(lines[0])) < len(lines[0]):
        raise GalleryError(f"{file}: it needs a header line that names every column once, then rows")
    for k, line in enumerate(lines):
        if len(line) != len(lines[0]):
            raise GalleryError(f"{file}: row {k} has {len(line)} cells, the header has {len(lines[0])}")
    return {name: [line[j] for line in lines[1:]] for j, name in enumerate(lines[0])}


def _known(path: Path, fields: Mapping[str, Any], problem: Model) -> KnownAnswer:
    n, d, verdict = problem.data.n, problem.data.d, fields["verdict"]

    def one(name: str) -> Number | None:
        return _number(path, f"known.{name}", fields[name]) if name in fields else None

    def several(name: str, length: int, given: Mapping[str, Any] = fields) -> tuple[Number, ...] | None:
        if name not in given:
            return None
        if not isinstance(given[name], list) or len(given[name]) != length:
            raise GalleryError(f"{path}: known.{name} must be a list of {length} number(s)")
        return tuple(_number(path, f"known.{name}[{k}]", value) for k, value in enumerate(given[name]))

    def by_block(name: str, blocks: Sequence[Any]) -> Mapping[str, tuple[Number, ...]]:
        given = _fields(path, f"known.{name}.", fields.get(name, {}), {f"{b.name}?": list for b in blocks})
        found = {b.name: several(b.name, b.size, given) for b in blocks}
        return MappingProxyType({block: numbers for block, numbers in found.items() if numbers is not None})

    if verdict not in ("optimal", "infeasible", "unattained"):
        raise GalleryError(f"{path}: known.verdict is {_short(verdict)}, not optimal, infeasible or unattained")
    if verdict != "unattained" and ("optimum" in fields) != (verdict != "infeasible"):
        raise GalleryError(f"{path}: known.optimum must be given, except for an infeasible problem")
    if not all(word in ("coef", "intercept", "values", "multipliers") for word in fields.get("unique", [])):
        raise GalleryError(f"{path}: known.unique may name coef, intercept, values and multipliers only")
    support = fields.get("support")
    if support is not None and not all(type(row) is int and 0 <= row < n for row in support):
        raise GalleryError(f"{path}: known.support must hold whole numbers from 0 to {n - 1}")
    of_scores = [v.size for v in problem.variables if v.name in ("coef", "intercept")]
    unknowns = sum(of_scores) if "coef" in problem.layout else problem.size
    return KnownAnswer(
        verdict=verdict,
        optimum=one("optimum"),
        coef=several("coef", d),
        intercept=one("intercept"),
        intercept_interval=several("intercept_interval", 2),
        support=None if support is None else tuple(support),
        values=by_block("values", problem.variables),
        multipliers=by_block("multipliers", problem.constraints),
        direction=several("direction", unknowns),
        unique=tuple(fields.get("unique", ())),
    )


def _number(path: Path, field: str, value: Any) -> Number:
    text = str(value) if type(value) is int and abs(value) < 2**63 else value
    found = _KNOWN.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        how = 'write a number as "3", "-7/3", "0.25" or "0.6931..."'
        raise GalleryError(f"{path}: {field} is {_short(value)}; {how}")
    below, digits = int(found[2] or 1), found[3] or ""
    if below == 0:
        raise GalleryError(f"{path}: {field} is {_short(value)}, which divides by zero")
    return Number(text, Fraction(int(found[1] + digits), below * 10 ** len(digits)), not found[4])


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a huge number"
    return text if len(text) <= 60 else text[:57] + "..."

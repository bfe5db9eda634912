"""Certificates checked from nothing but the file and the data.

Nothing is solved, and nothing that the file claims is believed. The digest of the data is compared first, then the
problem is declared anew from the model's kind and parameters, and the numbers of the file have to prove the claim:

optimal, exact       the KKT conditions in rationals, the gap 0, the optimum equal to the claimed one
optimal, rigorous    true bounds, built from the numbers, that imply the claimed ones
optimal, float       true bounds within the tolerance of each other and of the claim; where none are known, the KKT
                     conditions in doubles
infeasible           a Farkas vector, in rationals
unattained           a direction, in rationals where no matrix or norm bound takes part
"""

from __future__ import annotations

import inspect
import types
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from convexcls.data import Data, DataError, Labels, check_data
from convexcls.files import open_input
from convexcls.models import Model, by_kind
from convexcls.proofs.certificate import Certificate
from convexcls.proofs.portable.checks import check_claim
from convexcls.proofs.portable.digest import FORM, data_digest, label_texts
from convexcls.proofs.portable.numbers import CertificateError, read_number, write_number
from convexcls.proofs.portable.parsing import MAX_FILE_CHARACTERS, Parsed, parse
from convexcls.proofs.portable.text_digest import TEXT_FORM, text_digest
from convexcls.rational.numbers import GivenNumber, remembered_number, to_double
from convexcls.tables import Table, coded_samples, read_table
from convexcls.wording import short_rational

#: How the digest of data is made, by what a file says of it.
DIGESTS = {FORM: data_digest, TEXT_FORM: text_digest}


@dataclass(frozen=True)
class Verification:
    """Whether a certificate is accepted; if not, the ``reasons``. ``lower`` and ``upper`` are what is proved of the
    optimum, in the sense in which the model reports it, None where nothing is. Where the data are ``rounded``, it is
    proved of the doubles nearest to them.

    >>> import convexcls as cc
    >>> X, y = [[0], [1], [2]], ["a", "b", "a"]
    >>> verification = cc.verify(cc.HardMarginSVM(X, y).solve().certificate, X, y)
    >>> bool(verification), verification.reasons
    (True, ())
    >>> verification.explain().split(":")[0]
    'ACCEPTED. The hard-margin problem on these data (3 samples) is infeasible'
    """

    accepted: bool
    reasons: tuple[str, ...]
    lower: Fraction | None = None
    upper: Fraction | None = None
    parsed: Parsed | None = None
    rounded: bool = False

    def __bool__(self) -> bool:
        return self.accepted

    def explain(self) -> str:
        """What was proved, or why nothing was."""
        if not self.accepted:
            return "REFUSED. The certificate does not prove what it claims: " + "; ".join(self.reasons) + "."
        assert self.parsed is not None
        data = "these data rounded to doubles" if self.rounded else "these data"
        head = f"ACCEPTED. The {self.parsed.model} problem on {data} ({self.parsed.samples} samples) is"
        if self.parsed.verdict != "optimal":
            how = {
                "infeasible": "infeasible: multiplied as the certificate says and added up, its constraints contradict "
                "each other",
                "unattained": "unattained: along the direction of the certificate the objective falls for ever",
            }
            return f"{head} {how[self.parsed.verdict]}."
        if self.lower is None:
            return (
                f"{head} solved as far as doubles tell: the KKT conditions and the gap hold to the tolerance, but no "
                "bound that holds despite rounding is known for it."
            )
        if self.lower == self.upper:
            return f"{head} solved, and its optimum is exactly {_shown(self.lower)}."
        return f"{head} solved: its optimum lies between {_shown(self.lower)} and {_shown(self.upper)}."


def verify(certificate: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Verification:
    """Check a certificate on data: a ``Certificate``, the text of a file, or its path.

    A text that is no certificate is refused, too; ``DataError`` is raised for data that cannot be used, ``OSError`` for
    a file that cannot be read.

    ``X``, ``y`` and ``sample_weight`` are the data that the certificate is said to be about. Of a certificate that says
    how its samples were made of a table, ``X`` alone may be that table, or the name of its file.

    >>> import convexcls as cc
    >>> X, y = [[0, 0], [2, 1]], [0, 1]
    >>> text = cc.HardMarginSVM(X, y).solve(level="exact").certificate.to_json()
    >>> str(cc.verify(text, X, y).lower)
    '2/5'
    >>> cc.verify(text.replace("2/5", "1/5"), X, y).accepted
    False
    """
    try:
        parsed = parse(_text(certificate))
    except CertificateError as error:
        return Verification(False, (str(error),))
    if y is None:
        if parsed.coding is None:
            raise DataError("y is missing: give samples and labels (the certificate does not speak of a table)")
        table = read_table(X, exact=True) if isinstance(X, (str, Path)) else Table.of(X)
        samples = coded_samples(table, parsed.coding, parsed.labels is None)
        X, y, sample_weight = samples.X, samples.y, samples.weights
    return verify_parsed(parsed, X, y, sample_weight)


def verify_parsed(parsed: Parsed, X: Any, y: Any, sample_weight: Any = None) -> Verification:
    """The same for a certificate that has been read."""
    try:
        given = checked_data(parsed, X, y, sample_weight)
        data = _spoken_of(parsed, given)
        if rounded := data is not given:
            X = data.samples
            sample_weight = None if sample_weight is None else data.given_weights
        lower, upper = check_claim(parsed, rebuilt(parsed, X, data.given, sample_weight))
    except CertificateError as error:
        return Verification(False, (str(error),), parsed=parsed)
    return Verification(True, (), lower, upper, parsed, rounded)


def speaks_of(parsed: Parsed, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the certificate speaks of these data."""
    try:
        _compare(parsed, checked_data(parsed, X, y, sample_weight))
    except CertificateError:
        return False
    return True


def _spoken_of(parsed: Parsed, given: Data) -> Data:
    """The data as they were given or as doubles, whichever the certificate speaks of."""
    others = [replace(given, exact_weights=None)] if given.exact_weights is not None else []  # of older files
    if given.exact_matrix is not None or given.exact_reals is not None:
        others.append(given.rounded)
    for data in (given, *others):
        with suppress(CertificateError):
            _compare(parsed, data)
            return data
    _compare(parsed, given)
    return given


def _compare(parsed: Parsed, data: Data) -> None:
    """Refuse a certificate that speaks of other data."""
    if (parsed.samples, parsed.features) != (data.n, data.d):
        raise CertificateError(
            f"the certificate speaks of {parsed.samples} samples with {parsed.features} features, the data have "
            f"{data.n} with {data.d}"
        )
    if parsed.weighted != data.weighted:
        claimed, found = ("weights", "none") if parsed.weighted else ("no weights", "some")
        raise CertificateError(f"the certificate speaks of samples with {claimed}, the data have {found}")
    labels = None if data.labels is None else label_texts(data.labels)
    if parsed.labels != labels:
        raise CertificateError("the certificate speaks of other labels than the data have")
    if parsed.sha256 != DIGESTS[parsed.digest](data):
        read = " (data that are read by block are the doubles nearest to what is written)" if data.by_block else ""
        raise CertificateError(f"the data are not those that the certificate speaks of: their digests differ{read}")


def _text(certificate: Any) -> str:
    if isinstance(certificate, Certificate):
        return certificate.to_json()
    if isinstance(certificate, str) and certificate.lstrip().startswith("{"):
        return certificate
    if not isinstance(certificate, (str, Path)):
        raise TypeError(
            f"a certificate is a Certificate, the text of a file or a path, not {type(certificate).__name__}"
        )
    return read_text(Path(certificate))


def read_text(path: Path) -> str:
    """The text of a file, where it is not too long to be a certificate."""
    with open_input(path) as file:
        raw = file.read(MAX_FILE_CHARACTERS + 1)
    if len(raw) > MAX_FILE_CHARACTERS:
        raise CertificateError(f"the certificate is longer than {MAX_FILE_CHARACTERS:,} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CertificateError(f"the certificate is not UTF-8 text (byte {error.start})") from None


def _shown(value: Fraction | None) -> str:
    if value is None:
        return "an unknown number"
    text = "" if value.denominator == 1 else short_rational(value)
    return f"{text} = {to_double(value):.17g}" if text else f"{to_double(value):.17g}"


def model_class(parsed: Parsed) -> type[Model]:
    """The class of the model."""
    kinds = by_kind()
    if parsed.model not in kinds:
        raise CertificateError(f"there is no model {parsed.model!r}; there are {', '.join(kinds)}")
    return kinds[parsed.model]


def parameters_of(parsed: Parsed) -> dict[str, Any]:
    """The parameters, numbers as they are stated: exactly those that the model has, no more."""
    cls = model_class(parsed)
    hints = get_type_hints(cls.__init__)
    known = [p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.KEYWORD_ONLY]
    out: dict[str, Any] = {}
    for name, value in parsed.parameters.items():
        if name not in known or name in ("sample_weight", "memory_limit", "constraints"):
            raise CertificateError(f"the model {parsed.model!r} has no parameter {name!r}")
        out[name] = value
        if isinstance(value, str) and float in _alternatives(hints[name]):
            out[name] = remembered_number(read_number(value, f"the parameter {name}"))
    return out


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def checked_data(parsed: Parsed, X: Any, y: Any, sample_weight: Any) -> Data:
    """The data as the model takes them, before the model itself is declared, which may cost more."""
    real = parsed.parameters.get("coding") == "real"
    if sample_weight is not None and "sample_weight" not in inspect.signature(model_class(parsed)).parameters:
        raise CertificateError(f"the model {parsed.model!r} takes no weights, but the data have some")
    data = check_data(X, y, sample_weight, real_target=real, several=True)
    named = parsed.coding is not None and parsed.coding.positive is not None
    if named and data.labels is not None and len(data.labels) == 2:
        if label_texts(data.labels) == parsed.labels:
            return data
        assert data.classes is not None
        return check_data(X, Labels(1 - data.classes, data.labels[::-1]), sample_weight)
    return data


def rebuilt(parsed: Parsed, X: Any, y: Any, sample_weight: Any) -> Model:
    """The model on the data, with the parameters of the certificate and no others."""
    arguments = parameters_of(parsed)
    if sample_weight is not None:
        arguments["sample_weight"] = sample_weight
    declare: Any = model_class(parsed)
    try:
        problem: Model = declare(X, y, **arguments)
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise CertificateError(f"the model {parsed.model!r} cannot be declared so: {error}") from None
    for name, value in problem.parameters.items():
        if name not in parsed.parameters:
            raise CertificateError(f"the certificate does not state the parameter {name!r}")
        stated, written = parsed.parameters[name], written_parameter(value)
        if type(stated) is not type(written) or (stated != written and arguments.get(name) != value):
            raise CertificateError(f"the certificate states the parameter {name!r} in a wrong way")
    return problem


def written_parameter(value: Any) -> str | bool | None:
    """A parameter as a file states it."""
    if value is None or isinstance(value, (str, bool)):
        return value
    return (
        bool(value)
        if isinstance(value, np.bool_)
        else write_number(value.given if isinstance(value, GivenNumber) else float(value))
    )

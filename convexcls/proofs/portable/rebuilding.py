"""The problem that a certificate speaks of, declared anew on data."""

from __future__ import annotations

import inspect
import types
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from convexcls.data import Data, check_data
from convexcls.models import Model, by_kind
from convexcls.proofs.portable.numbers import CertificateError, nearest_double, read_number, write_number
from convexcls.proofs.portable.parsed import Parsed


def model_class(parsed: Parsed) -> type[Model]:
    """The class of the model."""
    kinds = by_kind()
    if parsed.model not in kinds:
        raise CertificateError(f"there is no model {parsed.model!r}; there are {', '.join(kinds)}")
    return kinds[parsed.model]


def parameters_of(parsed: Parsed) -> dict[str, Any]:
    """The parameters, numbers as the doubles that they are: exactly those that the model has, no more."""
    cls = model_class(parsed)
    hints = get_type_hints(cls.__init__)
    known = [p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.KEYWORD_ONLY]
    out: dict[str, Any] = {}
    for name, value in parsed.parameters.items():
        if name not in known or name in ("sample_weight", "memory_limit", "constraints"):
            raise CertificateError(f"the model {parsed.model!r} has no parameter {name!r}")
        out[name] = value
        if isinstance(value, str) and float in _alternatives(hints[name]):
            out[name] = nearest_double(read_number(value, f"the parameter {name}"))
            if out[name] is None:
                raise CertificateError(f"the parameter {name} is not a double")
    return out


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def checked_data(parsed: Parsed, X: Any, y: Any, sample_weight: Any) -> Data:
    """The data as the model takes them, before the model itself is declared, which may cost more."""
    real = parsed.parameters.get("coding") == "real"
    if sample_weight is not None and "sample_weight" not in inspect.signature(model_class(parsed)).parameters:
        raise CertificateError(f"the model {parsed.model!r} takes no weights, but the data have some")
    return check_data(X, y, sample_weight, real_target=real, several=True)


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
    return bool(value) if isinstance(value, np.bool_) else write_number(float(value))

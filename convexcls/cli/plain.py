"""A solution as plain values, and plain values as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from convexcls.certificate import Residual
from convexcls.report.grids import grids
from convexcls.report.reading import (
    CONDITIONS,
    certified,
    coefficients,
    conic_of,
    has_support,
    intercept_value,
    interval,
)
from convexcls.solution import Solution


def solution_dict(s: Solution) -> dict[str, Any]:
    """Everything that the text says, as plain values."""
    there = s.x is not None and s.status in ("optimal", "undecided")
    value = intercept_value(s) if there else None
    kkt = s.certificate.kkt if there else None
    tables = grids(s) if there else []
    return {
        "schema": "convexcls-solution/1",
        "problem": s.problem.name,
        "solver": s.solver,
        "status": s.status,
        "certified": certified(s),
        "labels": getattr(getattr(s.problem, "data", None), "labels", None),
        "tolerance": s.certificate.tol,
        "level": s.certificate.level,
        "lower": float(s.certificate.lower),
        "upper": float(s.certificate.upper),
        "optimum": None if s.certificate.optimum is None else str(s.certificate.optimum),
        "objective": s.objective if there else None,
        "dual_objective": s.dual_objective if there else None,
        "gap": s.gap if there else None,
        "coef": dict(coefficients(s)) if there and not tables else None,
        **{grid.name: grid.columns for grid in tables},
        "intercept": value,
        "intercept_interval": None if value is None else list(interval(s)),
        "support": s.support.tolist() if there and has_support(s) else None,
        "boundary": _conic_dict(s) if there else None,
        "kkt": None if kkt is None else {name: _residual_dict(getattr(kkt, a)) for name, a in CONDITIONS.items()},
        "iterations": s.iterations,
        "seconds": s.seconds,
        "message": s.message,
        "report": s.rule_report.to_dict() if hasattr(s.rule_report, "to_dict") else None,
        "explanation": s.certificate.explain(),
        "certificate": s.certificate.summary(),
    }


def _conic_dict(s: Solution) -> dict[str, Any] | None:
    found = conic_of(s)
    if found is None:
        return None
    six = {name: getattr(found, name) for name in "abcdef"}
    measures = {name: getattr(found, name) for name in ("centre", "axes", "angle", "eccentricity", "vertex", "lines")}
    return {"kind": found.kind, "coefficients": six, **measures, "text": str(found)}


def _residual_dict(residual: Residual) -> dict[str, Any]:
    block, row = residual.worst if residual.relative_values else (None, None)
    return {"absolute": residual.max, "relative": residual.relative, "worst_block": block, "worst_row": row}


def strict_json(value: Any) -> str:
    """JSON as the standard has it: what is not a finite number is null."""
    return json.dumps(_plain(value), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    return str(value)

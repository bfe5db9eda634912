"""A problem in the formats that writers of solvers read.

mps    a linear program, as text (free format, minimised, all unknowns free but for their rows)
qps    the same with a quadratic objective: the section QUADOBJ has the lower triangle of P
npz    the one form as NumPy arrays, whatever the losses are
json   the same as JSON
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse

from convexcls.problem import Problem
from convexcls.wording import plain_values

Format = Literal["mps", "qps", "npz", "json"]
FORMATS: tuple[Format, ...] = ("mps", "qps", "npz", "json")
SCHEMA = "convexcls-program/1"


def takes(problem: Problem, form: Format) -> bool:
    """Whether the format can state the problem."""
    return {"mps": problem.is_linear_program, "qps": problem.is_quadratic_program}.get(form, True)


def written(problem: Problem, form: Format) -> bytes:
    """The problem as the contents of a file."""
    if form in ("mps", "qps"):
        return ("\n".join(_mps(problem)) + "\n").encode()
    if form == "npz":
        np.savez(file := io.BytesIO(), allow_pickle=False, **_arrays(problem))
        return file.getvalue()
    import json

    return (json.dumps(plain_values(one_form(problem)), allow_nan=False) + "\n").encode()


# ---- MPS and QPS ---------------------------------------------------------------------------------------------------


def _mps(problem: Problem) -> Iterator[str]:
    """The lines. Half squares of rows, 1/2 w u'u with u = Mx + t, have u as unknowns, with an equation each."""
    from convexcls.solvers.foreign.quadratic_program import quadratic_program

    qp = quadratic_program(problem)
    columns = [f"{v.name}[{k}]" for v in problem.variables for k in range(v.size)]
    columns += [f"{t.name}.u[{k}]" for t in problem.terms for k in range(t.size)]
    equal = [f"{c.name}[{k}]" for c in problem.constraints if c.relation == "==" for k in range(c.size)]
    equal += [f"{t.name}[{k}]" for t in problem.terms for k in range(t.size)]
    upper = [f"{c.name}[{k}]" for c in problem.constraints if c.relation == "<=" for k in range(c.size)]
    yield f"NAME {problem.name.replace(' ', '-')}"
    yield "ROWS"
    yield " N objective"
    yield from (f" E {name}" for name in equal)
    yield from (f" L {name}" for name in upper)
    yield "COLUMNS"
    rows = sparse.csc_array(sparse.vstack([qp.A, qp.G]))
    for j, column in enumerate(columns):
        if qp.q[j] or rows.indptr[j] == rows.indptr[j + 1]:
            yield f" {column} objective {_text(qp.q[j])}"
        for at in range(rows.indptr[j], rows.indptr[j + 1]):
            yield f" {column} {[*equal, *upper][rows.indices[at]]} {_text(rows.data[at])}"
    yield "RHS"
    if problem.constant:
        yield f" rhs objective {_text(-problem.constant)}"
    sides = zip([*equal, *upper], np.concatenate([qp.b, qp.h]), strict=True)
    yield from (f" rhs {name} {_text(side)}" for name, side in sides if side)
    yield "BOUNDS"
    yield from (f" FR bound {column}" for column in columns)
    if qp.P.nnz:
        yield "QUADOBJ"
        lower = sparse.coo_array(sparse.tril(qp.P))
        for i, j, value in zip(*lower.coords, lower.data, strict=True):
            yield f" {columns[j]} {columns[i]} {_text(value)}"
    yield "ENDATA"


def _text(value: float) -> str:
    """The shortest decimal that is read as this double."""
    return repr(float(value))


# ---- the one form --------------------------------------------------------------------------------------------------


def one_form(problem: Problem) -> dict[str, Any]:
    """The one form, minimised, as plain values: minimise 1/2 x'Px + q'x + sum weights loss(Mx + t) + constant."""
    return {
        "schema": SCHEMA,
        "name": problem.name,
        "reported": "maximum" if problem.sense == "max" else "minimum",
        "variables": [{"name": v.name, "size": v.size} for v in problem.variables],
        "P": _whole_P(problem),
        "q": problem.q,
        "constant": problem.constant,
        "terms": [
            {
                "name": t.name,
                "loss": t.loss.name,
                "width": t.loss.width,
                "M": problem.rows(t).to_dense(),
                "t": t.offset,
                "weights": t.weights,
            }
            for t in problem.terms
        ],
        "constraints": [
            {"name": c.name, "relation": c.relation, "rows": problem.rows(c).to_dense(), "rhs": c.rhs}
            for c in problem.constraints
        ],
        "norm_bounds": [
            {
                "name": b.name,
                "E": problem.rows(b).to_dense(),
                "e": b.offset,
                "f": problem.bound_rows(b).to_dense()[0],
                "g": b.bound,
            }
            for b in problem.norm_bounds
        ],
    }


def _whole_P(problem: Problem) -> Any:
    out = np.zeros((problem.size, problem.size))
    for v, rows in problem.P.items():
        out[problem.layout[v], problem.layout[v]] = rows.to_dense()
    return out


def _arrays(problem: Problem) -> dict[str, Any]:
    """The one form as arrays: A, b and G, h with all rows of equations and of inequalities; for each term and each norm
    bound its parts, by name."""
    form = one_form(problem)
    out: dict[str, Any] = {name: form[name] for name in ("P", "q", "constant", "reported")}
    out["variables"] = np.array([v.name for v in problem.variables])
    out["sizes"] = np.array([v.size for v in problem.variables])
    for relation, rows, side in (("==", "A", "b"), ("<=", "G", "h")):
        own = [c for c in form["constraints"] if c["relation"] == relation]
        out[rows] = np.vstack([np.zeros((0, problem.size)), *(c["rows"] for c in own)])
        out[side] = np.concatenate([np.zeros(0), *(c["rhs"] for c in own)])
    for term in form["terms"]:
        out |= {f"term.{term['name']}.{part}": term[part] for part in ("loss", "M", "t", "weights")}
    for bound in form["norm_bounds"]:
        out |= {f"norm_bound.{bound['name']}.{part}": bound[part] for part in ("E", "e", "f", "g")}
    return out

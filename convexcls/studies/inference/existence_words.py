"""Existence of a maximum of the likelihood, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convexcls.wording import listed, paragraph

if TYPE_CHECKING:
    from convexcls.studies.inference.existence import Existence

MOST_NAMED = 12
WAYS = {
    "+inf": "runs to +infinity",
    "-inf": "runs to -infinity",
    "either": "runs to infinity, with either sign: directions with both raise the likelihood",
}


def explain(found: Existence) -> str:
    """The verdict, the coefficients one by one, and what to do."""
    lines = _existing(found) if found.exists else _missing(found)
    if found.unidentified:
        lines += paragraph(
            f"No data fix {listed(found.unidentified)}: these columns depend on others. Leave one of them out to make "
            "the rest unique."
        )
    return "\n".join(lines)


def _existing(found: Existence) -> list[str]:
    proof = found.separation
    return paragraph(
        f"THE MAXIMUM EXISTS. The classes overlap: multipliers above 0 on {len(proof.weights)} margins add up to 0 "
        "exactly, and every other margin depends on these, so that no direction of the coefficients raises the "
        "likelihood for ever."
    )


def _missing(found: Existence) -> list[str]:
    whole = found.separation.kind == "strict"
    n, still = found.rows.shape[0], found.separation.still.size
    separation = (
        "The classes are completely separated: along some direction every margin grows."
        if whole
        else f"Quasi-complete separation: along some direction no margin shrinks, and all grow but {still} of {n}, "
        "which stay."
    )
    lines = [
        *paragraph(f"THE MAXIMUM DOES NOT EXIST. {separation}"),
        f"The log-likelihood rises towards {found.supremum:.10g}, which no coefficients reach.",
    ]
    for name, way in list(found.infinite.items())[:MOST_NAMED]:
        lines.append(f"  {name} {WAYS[way]}")
    if len(found.infinite) > MOST_NAMED:
        lines.append(f"  and {len(found.infinite) - MOST_NAMED} more run to infinity")
    finite = list(found.finite.items())
    lines += [f"  {name} tends to {value:.10g}" for name, value in finite[:MOST_NAMED]]
    if len(finite) > MOST_NAMED:
        lines.append(f"  and {len(finite) - MOST_NAMED} more stay finite")
    lines += paragraph(
        f"With a ridge penalty the maximum exists: try l2={found.ridge:g} (a coefficient that moves the log-odds by "
        "2.5 over one standard deviation of a feature is then not unusual), and see how the answer depends on it."
    )
    return lines

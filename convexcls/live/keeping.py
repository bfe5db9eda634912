"""What is kept of a picture: the exact proof, the certificate, the table, and the Python that makes it again."""

from __future__ import annotations

import json
from typing import Any

from convexcls.live.state import Asked, State
from convexcls.problem import NoAnswer
from convexcls.proofs.portable import verify
from convexcls.solution import Solution
from convexcls.wording import rational_text

TARGET = "class"


def exactly(state: State, asked: Asked, solution: Solution) -> dict[str, Any]:
    """What is proved without rounding of the points as the decimals that they are, and the files to keep."""
    certificate = solution.certificate
    files = {"data.csv": table(state), "picture.py": program(state, asked)}
    accepted = None
    try:
        text = certificate.to_json()
        accepted = verify(text, solution.data.samples, solution.data.given).accepted
        files["certificate.json"] = text
        reason = ""
    except (NoAnswer, ValueError) as refusal:
        reason = str(refusal)
    optimum = None if certificate.optimum is None else rational_text(certificate.optimum)
    if optimum is None and certificate.enclosure is not None:
        optimum = str(certificate.enclosure.optimum_text)
    proved = certificate.level == "exact" and solution.status != "undecided"
    return {"proved": proved, "optimum": optimum, "accepted": accepted, "files": files, "reason": reason}


def target_name(state: State) -> str:
    """The title of the column of labels, unlike those of the features."""
    name = TARGET
    while name in state.features:
        name += "_"
    return name


def table(state: State) -> str:
    """The points as CSV."""
    lines = [[*state.features, target_name(state)]]
    lines += [[repr(float(x)), repr(float(y)), state.classes[k]] for x, y, k in state.points]
    return "".join(f"{','.join(map(_cell, line))}\n" for line in lines)


def _cell(text: str) -> str:
    """A cell of CSV, quoted where it has to be."""
    if not any(mark in text for mark in ',"\r\n') and text == text.strip():
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


def program(state: State, asked: Asked) -> str:
    """Python that declares the problem on these points, solves and proves it, and draws the picture."""
    offer = asked.offer
    cls = type(state.declare(asked)).__name__
    said = {**offer.fixed, **offer.defaults, **asked.parameters}
    given = "".join(f", {name}={value!r}" for name, value in said.items())
    how = "" if asked.solver == "auto" else repr(asked.solver)
    points = "".join(f"    [{float(x)!r}, {float(y)!r}],\n" for x, y, _ in state.points)
    imports, labels, y = _labels(state)
    return (
        f"import convexcls as cc\n{imports}\nX = [\n{points}]\n{labels}\n"
        f"problem = cc.{cls}(X, {y}{given})\nsolution = problem.solve({how})\nprint(solution.explain())\n\n"
        'if __name__ == "__main__" and solution.x is not None:\n'
        '    cc.plots.BoundaryDisplay.from_solution(solution).figure_.savefig("picture.png")\n'
    )


def _labels(state: State) -> tuple[str, str, str]:
    """What is imported for the labels, the lines that list them, and how the model takes them: where their order is not
    that of the alphabet, the one that counts as +1 is said."""
    if list(state.labels.names) == sorted(state.labels.names):
        return "", f"y = {json.dumps([state.classes[k] for *_, k in state.points])}\n", "y"
    numbers, names = state.labels.numbers.tolist(), json.dumps(list(state.labels.names))
    imports = "import numpy as np\nfrom convexcls.data import Labels\n"
    return imports, f"names = {names}\ny = Labels(np.array({numbers}), names)\n", "y"

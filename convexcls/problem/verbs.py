"""What a problem and its solution can do by layers that stand above them: the verb is known here, the way is not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

#: The module that provides each verb. It is imported when the verb is first asked for, so that ``import convexcls``
#: does not wait for what may never be used.
PROVIDERS = {
    "answer": "convexcls.solve",
    "dual": "convexcls.problem.duality",
    "explain": "convexcls.problem.explain",
    "existence": "convexcls.studies.inference.existence",
    "html": "convexcls.report.notebook",
    "latex": "convexcls.problem.latex",
    "plot_path": "convexcls.plots.path",
    "portable": "convexcls.proofs.portable.writing",
    "report": "convexcls.report",
    "solve": "convexcls.solve",
    "summary": "convexcls.studies.inference",
    "to_cvxpy": "convexcls.problem.cvxpy_form",
}
_VERBS: dict[str, Callable[..., Any]] = {}


def provides(verb: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the function that carries out ``Problem.<verb>``. A problem knows that it can be
    dualized, printed and solved, but not how: those layers stand above it."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _VERBS[verb] = function
        return function

    return register


def carry_out(verb: str, *args: Any, **options: Any) -> Any:
    """Carry out a verb, for what stands below the layer that provides it."""
    if verb not in _VERBS:
        import_module(PROVIDERS[verb])
    return _VERBS[verb](*args, **options)

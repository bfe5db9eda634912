"""How a fit shows where it stands: ``verbose`` prints a line an iteration, scikit-learn's callbacks hear of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from convexcls.solvers import Callback, Iteration

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """There are no callbacks to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]


class Progress:
    """The tasks of a fit: one for each program where there are several, and in them one for each iteration.

    Callbacks get tasks only where some are set: a solver that nobody watches does not work out its points.
    """

    def __init__(self, estimator: Any, programs: int, X: Any, y: Any) -> None:
        self.estimator, self.programs, self.data = estimator, programs, {"X": X, "y": y}
        self.name = type(estimator).__name__
        self.task: Any = None
        if hasattr(estimator, "_skl_callbacks"):  # where set_callbacks keeps them; there is no public question
            self.task = estimator._init_callback_context(max_subtasks=programs if programs > 1 else None)

    def __enter__(self) -> Self:
        if self.task is not None:
            self.task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def solved(self, label: Any, run: Callable[[Callback | None], Any]) -> Any:
        """What ``run`` gives for the program that is told of as ``label``."""
        if self.task is None:
            return run(self._listener(None, label) if self.estimator.verbose else None)
        task = self.task
        if self.programs > 1:
            task = task.subcontext(task_name=f"class {label}", max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self.estimator)
        found = run(self._listener(task, label))
        if self.programs > 1:
            task.call_on_fit_task_end(estimator=self.estimator)
        return found

    def _listener(self, task: Any, label: Any) -> Callback:
        who = self.name if self.programs == 1 else f"{self.name}, class {label!r}"

        def listen(line: Iteration) -> None:
            if self.estimator.verbose:
                print(f"[{who}] {line.iteration:5d}  objective {line.objective:.10g}  residual {line.residual:.1e}")
            if task is not None:
                step = task.subcontext(task_name="iteration")
                step.call_on_fit_task_begin(estimator=self.estimator)
                step.call_on_fit_task_end(estimator=self.estimator)

        return listen

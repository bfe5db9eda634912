"""What notebooks show of a result: the one way from all results up to the report that renders them."""

from __future__ import annotations


class InNotebooks:
    """A result that notebooks show as the report does. How it is rendered is known to ``convexcls.report`` alone, which
    is loaded when a notebook asks."""

    def _repr_html_(self) -> str:
        from convexcls.report import in_notebook

        return in_notebook(self)

"""Types in signatures link to public names: ``convexcls.solution.Solution`` is documented as ``convexcls.Solution``."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import convexcls


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.Element | None:
    """A reference to a public name by its last part, wherever it is defined."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in convexcls.__all__:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"convexcls.{name}", node, text)


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

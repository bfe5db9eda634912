"""Formulas as MathML, which browsers lay out by themselves: no script, no network.

The converter is math-core, as in the package. A formula that it does not accept is a warning, and ``make docs`` makes
warnings errors.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

CONVERTER = LatexToMathML(fancy_error=False)
logger = logging.getLogger(__name__)


def mathml(formula: str, *, display: bool) -> str:
    """One formula as a ``<math>`` element. Raises ``LatexError`` for one that is not accepted."""
    return str(CONVERTER.convert_with_local_state(formula, displaystyle=display))


def converted(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    formula = node.astext().strip()
    try:
        return mathml(formula, display=display)
    except LatexError as error:
        logger.warning("math-core does not accept %r: %s", formula, error, location=node, type="mathml")
        return f"<code>{escape(formula)}</code>"


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(converted(node, display=False))
    raise nodes.SkipNode


def visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{converted(node, display=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

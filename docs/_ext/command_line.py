"""``{command-line}``: every command of ``convexcls`` with the help that it prints itself."""

from __future__ import annotations

from typing import Any, ClassVar

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from convexcls.cli import main

WIDTH = 96


class CommandLine(SphinxDirective):
    """A section a command, the program itself first."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        program = click.Context(main, info_name="convexcls", terminal_width=WIDTH, max_content_width=WIDTH)
        out = [help_of(program)]
        for name in main.list_commands(program):
            command = main.get_command(program, name)
            assert command is not None
            context = click.Context(command, info_name=name, parent=program, terminal_width=WIDTH)
            title = f"convexcls {name}"
            section = nodes.section("", nodes.title("", title), help_of(context), ids=[nodes.make_id(title)])
            self.state.document.note_implicit_target(section)
            out.append(section)
        return out


def help_of(context: click.Context) -> nodes.literal_block:
    text = click.unstyle(context.get_help())
    return nodes.literal_block(text, text, language="text")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

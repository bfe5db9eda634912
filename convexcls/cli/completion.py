"""Shell completion: names of problems, models and solvers, and the command that prints the script for a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

from convexcls.cli.screen import emit

PROGRAM = "convexcls"
SHELLS = ("bash", "zsh", "fish")


Names = Callable[[click.Context], Iterable[str]]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completer(names: Names, files: bool = False) -> Completer:
    """What completes an argument to one of the names, which may depend on what was typed before, or to a file."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names(ctx) if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")] if files else found

    return complete


def _problems(_: click.Context) -> Iterable[str]:
    from convexcls import gallery

    return gallery.entries()


def _models(_: click.Context) -> Iterable[str]:
    from convexcls.models import by_kind

    return by_kind()


def _solvers(_: click.Context) -> Iterable[str]:
    """Those of cvxpy only as they begin: to list them takes a second."""
    from convexcls.job import DUAL
    from convexcls.solvers import CVXPY, REGISTRY

    names = [*REGISTRY, CVXPY]
    return ["auto", *names, *(DUAL + name for name in names)]


def _parameters(ctx: click.Context) -> Iterable[str]:
    """Those of the model that was named, each as ``NAME=``."""
    from convexcls.cli.settings import model_parameters
    from convexcls.models import by_kind

    cls = by_kind().get(ctx.params.get("model") or "")
    return [] if cls is None else [f"{name}=" for name in model_parameters(cls)]


sources = completer(_problems, files=True)
models = completer(_models)
solvers = completer(_solvers)
parameters = completer(_parameters)


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options, problems, models and solvers in a shell.

    \b
    Examples:
      convexcls completion bash > ~/.local/share/bash-completion/completions/convexcls
      convexcls completion zsh > "${fpath[1]}/_convexcls"
      convexcls completion fish > ~/.config/fish/completions/convexcls.fish
    """
    found = get_completion_class(shell)
    assert found is not None, f"click knows {shell}"
    script = found(ctx.find_root().command, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE")
    emit(script.source_template % script.source_vars())
    return 0

"""The command line as typer has it: every command under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import floodway
from floodway.cli.arguments import Verbs
from floodway.cli.commands import (
    check,
    compare,
    explain,
    import_hpcc,
    list_,
    plot,
    reproduce,
    run,
    schema,
    study,
    validate,
    verify,
    why,
)
from floodway.cli.exits import USAGE
from floodway.cli.output import echo

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app"]

app = typer.Typer(
    cls=Verbs,
    name="floodway",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def floodway_(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", show_default=False)
    ] = False,
) -> int:
    """Simulate lossless RDMA networks, packet by packet.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway run scenarios/demo.toml
      floodway run scenarios/demo.toml --set long-haul.flow-control.pfc.xoff=30MB
      floodway compare scenarios/demo.toml --vary long-haul.flow-control=pfc,bifrost
      floodway plot fct out/compare/demo
      floodway why out/demo p99
      floodway list mechanisms
      floodway explain bifrost
    """
    if version:
        echo(f"floodway {floodway.__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)
    return 0


#: In the order in which help lists them.
COMMANDS: dict[str, Callable[..., int]] = {
    "run": run.command,
    "compare": compare.command,
    "study": study.command,
    "reproduce": reproduce.command,
    "why": why.command,
    "verify": verify.command,
    "plot": plot.command,
    "validate": validate.command,
    "check": check.command,
    "list": list_.command,
    "explain": explain.command,
    "schema": schema.command,
}
for name, definition in COMMANDS.items():
    app.command(name=name)(definition)

imports = typer.Typer(cls=Verbs, rich_markup_mode=None)
imports.command(name="hpcc")(import_hpcc.command)
app.add_typer(imports, name="import", help="Make a scenario of another simulator's files.")

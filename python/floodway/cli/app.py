"""The command line as typer has it: every command under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

import floodway
from floodway.cli.arguments import Verbs
from floodway.cli.exits import USAGE
from floodway.cli.output import echo

if TYPE_CHECKING:
    from typer._click import Context

__all__ = ["app"]


class Commands(Verbs):
    """The commands of floodway, in the order in which help lists them."""

    DEFINITIONS: ClassVar = {
        "run": "run",
        "compare": "compare",
        "study": "study",
        "reproduce": "reproduce",
        "why": "why",
        "verify": "verify",
        "plot": "plot",
        "report": "report",
        "lint": "lint",
        "validate": "validate",
        "check": "check",
        "list": "list_",
        "explain": "explain",
        "schema": "schema",
    }


class Plans(Verbs):
    """The commands of `floodway plan`; without one of their names it plans a link.

    `lint` is the same command as `floodway lint`.
    """

    DEFINITIONS: ClassVar = {"link": "plan_link", "lint": "lint"}

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Put the command that plans a link before arguments that name none."""
        named = args[:1] and args[0] in self.DEFINITIONS
        return super().parse_args(ctx, args if named else ["link", *args])


class Imports(Verbs):
    """The commands of `floodway import`."""

    DEFINITIONS: ClassVar = {
        "chakra": "import_chakra",
        "goal": "import_goal",
        "hpcc": "import_hpcc",
        "htsim": "import_htsim",
        "simai": "import_simai",
    }


class Exports(Verbs):
    """The commands of `floodway export`."""

    DEFINITIONS: ClassVar = {"goal": "export_goal", "perfetto": "export_perfetto"}


app = typer.Typer(
    cls=Commands,
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
        bool, typer.Option("--version", help="Show the version and exit.", show_default=False)
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
      floodway report out/demo
      floodway plan --rate 400G --length 40km --buffer 64MB --links 8
      floodway lint config_db.json
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


plans = typer.Typer(cls=Plans, rich_markup_mode=None)
app.add_typer(plans, name="plan", help="Plan a long lossless link: buffer, thresholds, reach.")
imports = typer.Typer(cls=Imports, rich_markup_mode=None)
app.add_typer(imports, name="import", help="Convert another simulator's files to a scenario.")
exports = typer.Typer(cls=Exports, rich_markup_mode=None)
app.add_typer(exports, name="export", help="Write a scenario's job, or a run, for other programs.")

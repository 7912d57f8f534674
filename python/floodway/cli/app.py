"""The group of all commands, and the groups `plan`, `import` and `export`."""

from __future__ import annotations

from typing import ClassVar

import click

import floodway
from floodway.cli.exits import USAGE
from floodway.cli.output import echo
from floodway.cli.verbs import Verbs

__all__ = ["app"]


class Commands(Verbs):
    """The commands of floodway, in the order in which help lists them."""

    DEFINITIONS: ClassVar = {
        "run": "run",
        "compare": "compare",
        "study": "study",
        "reproduce": None,
        "why": "why",
        "verify": "verify",
        "plot": "plot",
        "report": "report",
        "lint": "lint",
        "validate": None,
        "check": "check",
        "list": "list_",
        "explain": "explain",
        "schema": "schema",
    }


class Plans(Verbs):
    """The commands of `floodway plan`, of which `link` is the default.

    `lint` is the same command as `floodway lint`.
    """

    DEFINITIONS: ClassVar = {"link": "plan_link", "lint": "lint"}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `link` before arguments that begin with no command's name."""
        is_named = args[:1] and args[0] in self.DEFINITIONS
        return super().parse_args(ctx, args if is_named else ["link", *args])


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


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def app(context: click.Context, *, version: bool) -> None:
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
        raise click.exceptions.Exit(0)
    if context.invoked_subcommand is None:
        echo(context.get_help(), err=True)
        raise click.exceptions.Exit(USAGE)


app.add_command(Plans("plan", help="Plan a long lossless link: buffer, thresholds, reach."))
app.add_command(Imports("import", help="Convert another simulator's files to a scenario."))
app.add_command(Exports("export", help="Write a scenario's job, or a run, for other programs."))

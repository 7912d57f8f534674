"""The group of all commands, and the groups `plan`, `import` and `export`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

import floodway
from floodway.cli.output import USAGE, echo

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["app"]


class Verbs(click.Group):
    """A group of commands whose definitions are imported when they are called.

    Parameters
    ----------
    definitions
        Modules of `floodway.cli.commands`, each with the name that a command has there, by commands; None for
        a command of the laboratory. A module is imported when its command is called: importing all of them
        takes longer than the rest of a small call.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        definitions: Mapping[str, str | None],
        **attributes: Any,  # noqa: ANN401 (click's own)
    ) -> None:
        super().__init__(name, **attributes)
        self.definitions = definitions

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (as click calls it)
        """Return the names of commands, in the order of help."""
        return list(dict.fromkeys((*self.definitions, *self.commands)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name in self.definitions and cmd_name not in self.commands:
            self.add_command(_definition(cmd_name, self.definitions[cmd_name]), cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that arguments name; the error of an unknown one has the nearest name."""
        if args and args[0] not in self.definitions:
            # Near names are looked for among the commands that are there.
            for name in self.definitions:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _definition(name: str, place: str | None) -> click.Command:
    """Import a command."""
    if place is not None:
        module, _, attribute = place.partition(".")
        command: click.Command = getattr(import_module(f"floodway.cli.commands.{module}"), attribute)
        return command
    from floodway.common.laboratory import COMMANDS, laboratory, lacks  # noqa: PLC0415 (of few commands)

    def refuse(*_: object, **__: object) -> None:
        raise lacks(f"floodway {name}")

    return laboratory(COMMANDS, name) or click.Command(
        name,
        callback=refuse,
        help="Needs the package floodway-lab, which is not installed.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )


#: The commands of floodway, in the order in which help lists them.
COMMANDS = {
    "run": "runs.run",
    "compare": "runs.compare",
    "study": "study.command",
    "reproduce": None,
    "why": "results.why",
    "verify": "results.verify",
    "plot": "plot.command",
    "report": "results.report",
    "lint": "plans.lint",
    "validate": None,
    "check": "runs.check",
    "list": "find.list_",
    "explain": "find.explain",
    "schema": "find.schema",
}
IMPORTS = {name: f"imports.{name}" for name in ("chakra", "goal", "hpcc", "htsim", "simai")}
EXPORTS = {name: f"exports.{name}" for name in ("goal", "perfetto")}


class Plans(Verbs):
    """The commands of `floodway plan`, of which `link` is the default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `link` before arguments that begin with no command's name."""
        is_named = args[:1] and args[0] in self.definitions
        return super().parse_args(ctx, args if is_named else ["link", *args])


@click.group(
    cls=Verbs,
    definitions=COMMANDS,
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


# `floodway plan lint` is the same command as `floodway lint`.
PLANS = {"link": "plans.link", "lint": "plans.lint"}
app.add_command(
    Plans("plan", definitions=PLANS, help="Plan a long lossless link: buffer, thresholds, reach.")
)
app.add_command(Verbs("import", definitions=IMPORTS, help="Convert another simulator's files to a scenario."))
app.add_command(
    Verbs("export", definitions=EXPORTS, help="Write a scenario's job, or a run, for other programs.")
)

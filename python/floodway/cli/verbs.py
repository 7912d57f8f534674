"""Groups of commands whose definitions are imported when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Verbs"]


class Verbs(click.Group):
    """A group of commands, each defined in a module of its own.

    Attributes
    ----------
    DEFINITIONS
        Modules of `floodway.cli.commands` by the commands that they define; None for a command of the
        laboratory. A module is imported when its command is called: importing all of them takes longer than
        the rest of a small call.
    """

    DEFINITIONS: ClassVar[Mapping[str, str | None]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (as click calls it)
        """Return the names of commands, in the order of help."""
        return list(dict.fromkeys((*self.DEFINITIONS, *self.commands)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name in self.DEFINITIONS and cmd_name not in self.commands:
            self.add_command(_definition(cmd_name, self.DEFINITIONS[cmd_name]), cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that arguments name; the error of an unknown one has the nearest name."""
        if args and args[0] not in self.DEFINITIONS:
            # Near names are looked for among the commands that are there.
            for name in self.DEFINITIONS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _definition(name: str, module: str | None) -> click.Command:
    """Import a command."""
    if module is not None:
        command: click.Command = import_module(f"floodway.cli.commands.{module}").command
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

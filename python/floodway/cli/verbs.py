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
        Modules of `floodway.cli.commands` by the commands that they define. A module is imported when its
        command is called: importing all of them takes longer than the rest of a small call.
    """

    DEFINITIONS: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (as click calls it)
        """Return the names of commands, in the order of help."""
        return list(dict.fromkeys((*self.DEFINITIONS, *self.commands)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name in self.DEFINITIONS and cmd_name not in self.commands:
            definition = import_module(f"floodway.cli.commands.{self.DEFINITIONS[cmd_name]}")
            self.add_command(definition.command, cmd_name)
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

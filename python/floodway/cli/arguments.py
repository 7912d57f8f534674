"""Conversion of the command line's texts to values, without the imports that typer needs for it.

Typer has pydantic turn texts into the types of arguments, and importing that takes longer than all else that
`floodway check` does with a small scenario. Text, paths, whole numbers and choices do not need it: they are
made here. Everything else, and wrong values, are left to typer, whose messages are shown.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin

from typer._coercion import RuntimeParam, build_runtime_param
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typer._click import Command, Context
    from typer._coercion import TypeDescriptor
    from typer.core import _TyperParameter
    from typer.models import ParameterInfo

__all__ = ["Verbs"]


class Verbs(TyperGroup):
    """A group of commands whose arguments are made here where that is simple.

    Attributes
    ----------
    DEFINITIONS
        Modules of `floodway.cli.commands` by the commands that they define. One is imported when its command
        is called: building all commands takes longer than the rest of a small call.
    """

    DEFINITIONS: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of commands, in the order of help."""
        return list(dict.fromkeys((*self.DEFINITIONS, *super().list_commands(ctx))))

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the arguments before the name of a command."""
        _simplify(self, ctx)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command by its name."""
        if cmd_name in self.DEFINITIONS and cmd_name not in self.commands:
            self.commands[cmd_name] = _defined(cmd_name, self.DEFINITIONS[cmd_name])
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _simplify(command, ctx)
        return command

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command that arguments name; the error of an unknown one has the nearest names."""
        if args and args[0] not in self.DEFINITIONS:
            # Typer looks for near names among commands that are built.
            for name in self.DEFINITIONS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _defined(name: str, module: str) -> Command:
    """Build a command from its definition."""
    definition = import_module(f"floodway.cli.commands.{module}")
    info = CommandInfo(name=name, callback=definition.command)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


def _simplify(command: Command, ctx: Context) -> None:
    for parameter in command.get_params(ctx):
        described: TypeDescriptor = parameter.type_descriptor  # type: ignore[attr-defined]  # as typer makes it
        simple = _Simple(parameter_info=described.parameter_info, annotation=described.annotation)
        parameter._runtime_param = simple  # type: ignore[attr-defined]  # noqa: SLF001 (it has no other way)


class _Simple(RuntimeParam):
    """Conversion of an argument's text to its value."""

    def _coerce_value(self, value: Any, param: _TyperParameter, ctx: Context) -> Any:  # noqa: ANN401 (any type)
        annotation: Any = self.annotation
        info, many = self.parameter_info, get_origin(annotation) is list
        made = _maker(get_args(annotation)[0] if many else annotation, info)
        texts = list(value) if many and isinstance(value, (list, tuple)) else [value]
        values = [made(text) if isinstance(text, str) else None for text in texts]
        if any(each is None for each in values):
            return build_runtime_param(param.type_descriptor).coerce(value, param=param, ctx=ctx)
        return values if many else values[0]


def _maker(annotation: Any, info: ParameterInfo) -> Callable[[str], Any]:  # noqa: ANN401 (any type)
    """Return the function that converts a text to a value, or None if the type is not simple."""
    if annotation is str:
        return str
    if annotation is int:
        return lambda text: _whole(text, info)
    if annotation is Path:
        return lambda text: _path(text, info)
    choices = get_args(annotation)
    return lambda text: text if text in choices else None


def _whole(text: str, info: ParameterInfo) -> int | None:
    digits = 18
    if not (text.isascii() and text.isdigit() and len(text) <= digits):
        return None
    number = int(text)
    fits = (info.min is None or number >= info.min) and (info.max is None or number <= info.max)
    return number if fits and not info.clamp else None


def _path(text: str, info: ParameterInfo) -> Path | None:
    """Return a path whose only requirement is that it is readable if it exists; else None."""
    asked = info.exists or info.writable or info.resolve_path or info.allow_dash or info.path_type is not None
    is_simple = info.file_okay and info.dir_okay and not asked and "\0" not in text
    return Path(text) if is_simple and (os.access(text, os.R_OK) or not os.path.lexists(text)) else None

"""Arguments and options that several commands have; their names are those of the commands' requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodway.cli.pictures import axes_of, formats_of
from floodway.common.loading import loading

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = [
    "GroupedCommand",
    "beginning",
    "chips",
    "explained_names",
    "force",
    "force_file",
    "force_memory",
    "force_threads",
    "full",
    "jobs",
    "json",
    "mixes",
    "out",
    "path",
    "paths",
    "pictures",
    "planned_flow_controls",
    "python",
    "quiet",
    "read_by",
    "scenario_file",
    "sets",
    "shard",
    "strict",
    "together",
    "value",
]

Option = Callable[[Callable[..., int]], Callable[..., int]]


def path(name: str, metavar: str, help_: str, **more: Any) -> Option:  # noqa: ANN401 (as click has it)
    """Define an argument that is a path."""
    return click.argument(name, type=click.Path(path_type=Path), metavar=metavar, help=help_, **more)


def paths(name: str, metavar: str, help_: str) -> Option:
    """Define an argument that is one path or more."""
    return path(name, metavar, help_, nargs=-1, required=True)


def out(metavar: str, help_: str, shown: str | None = None, **more: Any) -> Option:  # noqa: ANN401 (as above)
    """Define `--out`; help shows `shown` as its default."""
    kind = click.Path(path_type=Path)
    return click.option("--out", type=kind, metavar=metavar, help=help_, show_default=shown, **more)


def value(
    flag: str,
    metavar: str,
    help_: str,
    shown: str | None = None,
    *,
    name: str | None = None,
    **more: Any,  # noqa: ANN401 (as above)
) -> Option:
    """Define an option with a value; help shows `shown` as its default.

    Parameters
    ----------
    flag, metavar, help_, shown
        The option, and its value, text and default in help.
    name
        Its name in the request, if it is not that of the option.
    more
        Further arguments of `click.option`.
    """
    names = (flag,) if name is None else (flag, name)
    return click.option(*names, metavar=metavar, help=help_, show_default=shown, **more)


def _load_files(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> None:
    """Run the files of `--python`, which defines their classes for scenarios."""
    if files:
        from floodway.scenarios.mechanisms import load_file

        for file in files:
            load_file(file)


def read_by(reader: str) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a callback that reads the text of an option by a function of `floodway.cli.inputs`."""

    def read(_: click.Context, __: click.Parameter, text: str | None) -> Any:  # noqa: ANN401 (what it returns)
        if text is None:
            return None
        with loading():
            from floodway.cli import inputs
        return getattr(inputs, reader)(text)

    return read


scenario_file = path("scenario", "SCENARIO", "The scenario's TOML file.")
sets = value(
    "--set",
    "KEY.PATH=VALUE",
    "Replace the value of a key of the scenario; may be repeated.",
    name="sets",
    multiple=True,
)
#: Its callback has run the files, so commands have no value of it.
python = value(
    "--python",
    "FILE",
    "Load a Python file with rate controls and congestion points of your own; may be repeated.",
    multiple=True,
    type=click.Path(path_type=Path),
    callback=_load_files,
    expose_value=False,
)
force = click.option("--force", is_flag=True, help="Replace existing results.")
force_file = click.option("--force", is_flag=True, help="Replace an existing file.")
quiet = click.option("--quiet", is_flag=True, help="No progress, no warnings, no summary.")
strict = click.option(
    "--strict", is_flag=True, help="Fail if a lossless class lost packets, by buffer overflow or by failures."
)
force_threads = click.option(
    "--force-threads", is_flag=True, help="Use all threads even if they mostly wait for one another."
)
force_memory = click.option(
    "--force-memory", is_flag=True, help="Start even if the estimate exceeds the available memory."
)
jobs = value("--jobs", "N", "Number of parallel runs.", "one per core", type=click.IntRange(min=1))
shard = value(
    "--shard",
    "I/N",
    "Run one of N shares of the runs, with I from 0 to N-1, beside processes that run the others in "
    "the same folder. The last to end writes the report.",
    callback=read_by("shard_of"),
)
full = click.option("--full", is_flag=True, help="Print all tables and sentences behind the answer.")
json = click.option("--json", is_flag=True, help="Write one JSON document to stdout.")


def pictures(help_: str, shown: str) -> Option:
    """Define the options of pictures, which `floodway.cli.pictures.picture_options` takes out of the others.

    Parameters
    ----------
    help_, shown
        Help of `--format`, and its default there.
    """
    of_pictures: tuple[Option, ...] = (
        value(
            "--format",
            "FORMAT[,...]",
            help_,
            shown,
            name="formats",
            callback=lambda _, __, text: formats_of(text),
        ),
        value("--width", "INCHES", "Width of pictures.", "7, or as needed", name="width_in", type=float),
        value("--font-size", "POINTS", "Font size of pictures.", "10", name="font_pt", type=float),
        value(
            "--log",
            "x|y|x,y|none",
            "Logarithmic axes, where axes have numbers.",
            "the picture's own",
            callback=lambda _, __, text: axes_of(text),
        ),
        click.option("--title", help="Title of pictures; '' for none.", show_default="the picture's own"),
        click.option(
            "--no-note",
            "note",
            flag_value=False,
            default=True,
            help="Leave out the notes on widths, bars and marks below pictures.",
        ),
    )
    return together(*of_pictures)


def together(*options: Option) -> Option:
    """Join options that several commands have to one decorator, in the order of help."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


#: The groups after the command's own options, in their order: the same in every command.
GROUPS: Mapping[str, Sequence[str]] = {
    "Runs": (
        *(
            "--seed",
            "--seeds",
            "--quick",
            "--jobs",
            "--threads",
            "--force-threads",
            "--no-skip",
            "--force-memory",
        ),
        *("--on-deadlock", "--no-simulate"),
    ),
    "Runs on many machines": ("--shard", "--slurm", "--cluster", "--status"),
    "Results": ("--out", "--force", "--report", "--export", "--pcap", "--strict"),
    "Pictures": (
        *("--no-pictures", "--plot", "--format", "--width", "--font-size", "--log", "--title", "--no-note"),
    ),
    "Messages": ("--quiet", "--json", "--full", "--verbose", "--help"),
}


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group below its title, in the order in which the command has them."""
        records_by_title = {title: list[tuple[str, str]]() for title in ("Options", *GROUPS)}
        group_of = {option: title for title, options in GROUPS.items() for option in options}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                title = next((group_of[name] for name in parameter.opts if name in group_of), "Options")
                records_by_title[title].append(record)
        for title, records in records_by_title.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


# Each function imports its modules when a shell calls it, so that commands do not start later.


def chips(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of switch chips that begin with the typed text."""
    from floodway.planning.asics import asics

    return beginning(incomplete, (name for chip in asics().values() for name in (chip.name, *chip.aliases)))


def mixes(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the named mixes of frame sizes that begin with the typed text."""
    from floodway.planning.question import MIXES

    return beginning(incomplete, MIXES)


def planned_flow_controls(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of planned flow controls that begin with the typed text."""
    from floodway.planning.question import FLOW_CONTROLS

    return beginning(incomplete, FLOW_CONTROLS)


def explained_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of `floodway explain` that begin with the typed text."""
    from floodway.cli.catalog.entries import known_names

    return beginning(incomplete, known_names())


def beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the typed text, in lower case if only that form does.

    A shell ignores names that do not begin with the typed text.
    """
    spelled = (name if name.startswith(incomplete) else name.lower() for name in names)
    return [name for name in dict.fromkeys(spelled) if name.startswith(incomplete)]

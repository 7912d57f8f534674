"""Commands with many options, whose help shows them in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["GroupedCommand"]

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

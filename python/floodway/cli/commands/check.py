"""Definition of `floodway check`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from floodway.cli import options
from floodway.cli.exits import DONE
from floodway.cli.output import echo, warnings
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command()
@options.scenario_file
@options.python
@options.sets
@click.option(
    "--resolved", is_flag=True, help="Show the final settings of every object, and the line that set each."
)
@options.json
def command(*, scenario: Path, sets: tuple[str, ...], resolved: bool, json: bool) -> int:
    """Build a scenario without running it, and print the network and its thresholds.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway check scenarios/demo.toml --resolved
      floodway check scenarios/demo.toml --set mtu=4096B --json
    """
    with loading():
        from floodway import _floodway
        from floodway.cli.inputs import parsed
    built = parsed(scenario, sets=sets)
    report = _floodway.check(built.native, resolved=resolved)
    echo(report.json if json else report.text.rstrip("\n"))
    too_large = _floodway.Plan(built.native).too_large
    if too_large:
        warnings([f"a run would be refused: {too_large}"])
    return DONE

"""Names that shells complete, for arguments and options that take one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

__all__ = ["beginning", "chips", "explained_names", "mixes", "planned_flow_controls"]

# Each function imports its modules when a shell calls it, so that commands do not start later.


def chips(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of switch chips that begin with the typed text."""
    from floodway.planning.asics import asics  # noqa: PLC0415

    return beginning(incomplete, (name for chip in asics().values() for name in (chip.name, *chip.aliases)))


def mixes(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the named mixes of frame sizes that begin with the typed text."""
    from floodway.planning.question import MIXES  # noqa: PLC0415

    return beginning(incomplete, MIXES)


def planned_flow_controls(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of planned flow controls that begin with the typed text."""
    from floodway.planning.question import FLOW_CONTROLS  # noqa: PLC0415

    return beginning(incomplete, FLOW_CONTROLS)


def explained_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of `floodway explain` that begin with the typed text."""
    from floodway.cli.catalog.entries import known_names  # noqa: PLC0415

    return beginning(incomplete, known_names())


def beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the typed text, in lower case if only that form does.

    A shell ignores names that do not begin with the typed text.
    """
    spelled = (name if name.startswith(incomplete) else name.lower() for name in names)
    return [name for name in dict.fromkeys(spelled) if name.startswith(incomplete)]

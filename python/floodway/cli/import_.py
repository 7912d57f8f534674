"""`floodway import`."""

from __future__ import annotations

from pathlib import Path

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.output import echo
from floodway.errors import OutputError

__all__ = ["import_hpcc"]


def import_hpcc(config: Path, *, out: Path | None, force: bool) -> int:
    """Write the scenario that a configuration of the HPCC simulator means; returns the exit code."""
    to = Path() if out is None else out.parent
    text, _, warnings = _floodway.import_hpcc(config, to=to)
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
    if out is None:
        echo(text.rstrip("\n"))
    else:
        _write(text, out, force=force)
    return DONE


def _write(text: str, out: Path, *, force: bool) -> None:
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OutputError(str(out), "is there already; --force replaces it") from None
    except OSError as error:
        raise OutputError(str(out), f"cannot be written: {error.strerror}") from None

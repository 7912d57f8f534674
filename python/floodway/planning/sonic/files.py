"""Reader of switch configurations in any of three forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.common.files import read_text
from floodway.planning.sonic.config_db import read_config_db
from floodway.planning.sonic.json_tables import read_json
from floodway.planning.sonic.lookup import read_lookup, read_table
from floodway.planning.toml_keys import BOM

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.planning.sonic.row import Sheet

__all__ = ["read"]


def read(path: Path, *, asic: str = "") -> Sheet:
    """Read a configuration: a `pg_profile_lookup.ini`, a table of such rows, or a CONFIG_DB.

    Parameters
    ----------
    path
        The file. What it holds tells its form: an object of JSON, a first line with tabs, or else columns.
    asic
        The switch's chip, which some switches compute headroom for; by default the one that a CONFIG_DB
        tells by its `hwsku`.

    Raises
    ------
    PlanError
        If it cannot be read, is a template, or has a mistake; the error names file and line, or table and
        key.
    """
    file = str(path)
    try:
        text = read_text(path).removeprefix(BOM)
    except OSError as error:
        raise PlanError(f"{file}: cannot be read: {error.strerror or error}", place=file) from None
    except UnicodeDecodeError:
        raise PlanError(f"{file}: not text in UTF-8", place=file) from None
    _no_template(text, file)
    if text.lstrip().startswith(("{", "[")):
        return read_config_db(read_json(text, file), file, asic)
    first = text.partition("\n")[0]
    if "\t" in first and not first.lstrip().startswith("#") and not first.strip()[:1].isdigit():
        return read_table(text, file)
    return read_lookup(text, file)


def _no_template(text: str, file: str) -> None:
    for number, line in enumerate(text.splitlines(), start=1):
        if "{%" in line or "{{" in line:
            place = f"{file}:{number}"
            error = (
                "a template of jinja; render it first: sonic-cfggen -d -t FILE prints what the switch uses"
            )
            raise PlanError(f"{place}: {error}", place=place)

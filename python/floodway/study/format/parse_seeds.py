"""Seeds of a study: how many, or which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from floodway.study.format.toml_table import Table

__all__ = ["most_seeds_of", "seeds_of"]


def seeds_of(table: Table, default: int | None) -> Any:  # noqa: ANN401 (a number or a list of them)
    """Read `seeds`: a number of them, or a list.

    Raises
    ------
    StudyError
        If it is neither.
    """
    found = table.value("seeds", default)
    if isinstance(found, int) and not isinstance(found, bool) and found >= 1:
        return found
    if isinstance(found, list) and found and all(type(each) is int and each >= 0 for each in found):
        twice = next((each for each in found if found.count(each) > 1), None)
        if twice is not None:
            raise table.fault("seeds", f"{twice} is given twice", given=twice)
        return tuple(found)
    if found is None:
        return None
    raise table.fault(
        "seeds", f"{found!r} is neither a number of at least 1 nor a list of seeds", given=found
    )


def most_seeds_of(table: Table, what: str) -> int | None:
    """Read how many of the study's seeds a variant has, or a point of an axis, at most.

    Raises
    ------
    StudyError
        If it is no number.
    """
    found = seeds_of(table, None)
    if isinstance(found, tuple):
        raise table.fault(
            "seeds", f"{list(found)!r} is a list; of {what} it is how many of the study's it has at most"
        )
    return cast("int | None", found)

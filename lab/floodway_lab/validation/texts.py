"""Texts of the files of a case."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["text_of"]


def text_of(file: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    ValidationError
        If it cannot be read.
    """
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        shown = os.fspath(file)
        raise ValidationError(f"{shown}: cannot be read: {error}", place=shown) from error

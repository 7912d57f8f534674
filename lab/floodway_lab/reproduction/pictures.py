"""Pictures of results as pages of the documentation have them: narrow, and with few colours."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image

from floodway.common.errors import unwritable
from floodway.results.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["copy_pictures"]

#: Colours of a picture of a page, which keep those of curves: files are a third of the size.
COLOURS = 256
#: Pixels across at most.
WIDEST = 1400


def copy_pictures(names: Iterable[str], folder: Path, out: Path) -> None:
    """Copy pictures into the folder of a page, which is made if it does not exist.

    Raises
    ------
    OutputError
        If one cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in names:
            replace_file(out / name, _smaller(folder / name))
    except OSError as error:
        raise unwritable(out, error) from error


def _smaller(file: Path) -> bytes:
    with Image.open(file) as picture:
        plain = picture.convert("RGB")
        if plain.width > WIDEST:
            plain = plain.resize((WIDEST, round(plain.height * WIDEST / plain.width)))
        content = io.BytesIO()
        plain.quantize(COLOURS).save(content, format="PNG", optimize=True)
    return content.getvalue()

"""The page of runs: one self-contained file that loads nothing else, with columns of numbers as text.

Columns are little-endian arrays, compressed (deflate, without a header), in base 64.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from floodway.common.errors import unwritable
from floodway.common.pages import policy
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

__all__ = ["Page", "packed", "page"]

#: Types of numbers, by the names that the page has for them.
TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page as text; a notebook shows it in a frame of its own."""

    text: str

    def __repr__(self) -> str:
        return f"Page({len(self.text):,} bytes)"

    def _repr_html_(self) -> str:
        """Return a frame with the page inside, apart from the notebook's own styles and scripts."""
        inside = escape(self.text)
        style = "width: 100%; height: 900px; border: 0"
        return f'<iframe srcdoc="{inside}" sandbox="allow-scripts" style="{style}"></iframe>'

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the page; an existing file is replaced.

        Parameters
        ----------
        file
            The file to write.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        path = Path(file)
        try:
            with new_folder(path.parent):
                replace_file(path, self.text.encode())
        except OSError as error:
            raise unwritable(file, error) from error


def page(data: Mapping[str, Any], *, answer: str) -> str:
    """Return the page, with the data inside, and a sentence below its heading if it has an answer.

    Names in the data are text: the script puts them into the page as such, and `<` is written so that no
    browser takes one for a tag.
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    sentence = f'\n<p class="answer">{escape(answer)}</p>' if answer else ""
    title, script = escape(str(data["title"])), f"\n{_bundled('bundle.js')}\n"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy(script)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_bundled("bundle.css")}
</style>
</head>
<body>
<h1>{title}</h1>{sentence}
<noscript><p>This page needs JavaScript. It loads nothing from elsewhere.</p></noscript>
<main id="report" aria-busy="true"></main>
<script type="application/json" id="data">{text}</script>
<script>{script}</script>
</body>
</html>
"""


def _bundled(name: str) -> str:
    """Return a file that `make page` builds."""
    return (
        resources.files("floodway.simulation.report").joinpath(name).read_text(encoding="utf-8").rstrip("\n")
    )


def packed(values: ArrayLike, kind: str) -> dict[str, Any]:
    """Pack numbers.

    Parameters
    ----------
    values
        One number each, or rows of them.
    kind
        A key of `TYPES`.

    Returns
    -------
    dict
        `type`, `length` (how many numbers), `data`.

    Examples
    --------
    >>> packed([1, 2, 3], "u8")
    {'type': 'u8', 'length': 3, 'data': 'Y2RiBgA='}
    """
    array = np.ascontiguousarray(values, dtype=TYPES[kind])
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = compressor.compress(array.tobytes()) + compressor.flush()
    return {"type": kind, "length": int(array.size), "data": b64encode(content).decode()}

"""Page of the glossary."""

from __future__ import annotations

import re

from floodway.common.glossary import Term, terms

__all__ = ["glossary_page"]

HEAD = """# Glossary

<!-- Written by `make generate` from python/floodway/common/glossary.toml. -->

The terms of lossless networks as floodway uses them. `floodway explain TERM` prints the same.
"""


def glossary_page() -> str:
    """Return the text of `docs/glossary.md`."""
    return "\n".join([HEAD, *map(_section, terms())])


def _section(term: Term) -> str:
    parts = [f"### {term.name}", term.meaning_in_full]
    if term.source:
        parts.append(f"Source: {term.source}.")
    if term.see:
        parts.append(f"See also: {', '.join(map(_link, term.see))}.")
    return "\n\n".join(parts) + "\n"


def _link(name: str) -> str:
    if name.endswith(".md"):
        return f"[{name.removesuffix('/index.md').removesuffix('.md')}]({name})"
    return f"[{name}](#{re.sub(r'[^a-z0-9]+', '-', name.casefold()).strip('-')})"

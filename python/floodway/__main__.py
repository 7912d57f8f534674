"""`python -m floodway` and `floodway`: the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.loading import loading, refuse_little_memory

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line; a signal ends it quietly while its parts are still being imported, too."""
    with loading():
        refuse_little_memory()
        from floodway.cli import main as run  # noqa: PLC0415 (with the handlers)
    run()


if __name__ == "__main__":
    main()

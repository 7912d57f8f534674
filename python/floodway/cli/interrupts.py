"""Ctrl-C and SIGTERM from the start of a simulation to the end of its command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Interrupts"]


class Interrupts:
    """Whether the command was interrupted since its simulation began.

    A signal is only noted, so that results are published whatever happens; work that may take long, or wait
    for a reader, can be ended by it.
    """

    def __init__(self) -> None:
        self.noted = False
        self._raises = False

    def note(self) -> None:
        """Note a signal; called by its handler.

        Raises
        ------
        KeyboardInterrupt
            In work that `completes` has called, once.
        """
        self.noted = True
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt

    def completes(self, work: Callable[[], None]) -> bool:
        """Call a function, and return whether it completed; a signal ends it."""
        try:
            # A signal may come at any line. `note` raises nothing more once the outer clause is reached.
            try:
                self._raises = True
                work()
            finally:
                self._raises = False
        except KeyboardInterrupt:
            self.noted = True
            return False
        return True

"""Exit codes."""

__all__ = ["DONE", "FAILED", "INTERRUPTED", "TERMINATED", "USAGE"]

#: Done.
DONE = 0
#: The run failed.
FAILED = 1
#: Bad usage or scenario.
USAGE = 2
#: Ended by Ctrl-C.
INTERRUPTED = 130
#: Ended by SIGTERM.
TERMINATED = 143

"""Exit codes."""

__all__ = ["DONE", "FAILED", "INTERRUPTED", "READER_GONE", "TERMINATED", "USAGE"]

#: Done.
DONE = 0
#: The run failed.
FAILED = 1
#: Bad usage or scenario.
USAGE = 2
#: Ended by Ctrl-C.
INTERRUPTED = 130
#: The reader of stdout has ended, as `head` does: the code that a shell shows after SIGPIPE.
READER_GONE = 141
#: Ended by SIGTERM.
TERMINATED = 143

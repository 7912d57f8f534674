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
#: Whoever read stdout has gone, as `head` does: what a shell shows of a process that SIGPIPE ended.
READER_GONE = 141
#: Ended by SIGTERM.
TERMINATED = 143

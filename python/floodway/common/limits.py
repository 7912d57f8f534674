"""Bounds of arguments that the command line and the package share."""

__all__ = ["LARGEST_SEED", "MOST_THREADS"]

#: Seeds have 64 bits.
LARGEST_SEED = 2**64 - 1
#: More threads than any run is given.
MOST_THREADS = 4096

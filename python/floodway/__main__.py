"""`python -m floodway`: the command line."""

from floodway.cli import main

main()

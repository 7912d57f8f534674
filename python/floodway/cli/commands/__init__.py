"""Definitions of commands, one a file; what a command does is imported when it is called."""

"""Definitions of commands, one per file; what a command does is imported when it is called."""

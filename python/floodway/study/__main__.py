"""The program of a process that brings runs to their end; `pool` starts it."""

from floodway.study.running.worker import main

main()

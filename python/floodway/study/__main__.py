"""The program of a process of the pool of studies."""

from floodway.study.running.worker import main

main()

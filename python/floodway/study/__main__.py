"""The program of a worker process, which `pool` starts."""

from floodway.study.running.worker import main

main()

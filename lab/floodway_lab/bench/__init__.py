"""Benchmarks of the simulator itself: `make bench` and `bench-compare`, `-scaling`, `-peers`, `-command`.

The benchmarks are the scenarios of `benchmarks/`; the measured part is a program without Python
(`crates/scenario/benches/suite`), one process a run. `bench-peers` runs it and another simulator by turns.
"""

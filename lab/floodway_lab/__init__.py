"""The laboratory of floodway: comparisons of the simulator with papers, other simulators and itself."""

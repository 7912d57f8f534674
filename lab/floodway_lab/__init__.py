"""The laboratory of floodway: what compares the simulator with papers, other simulators and itself."""

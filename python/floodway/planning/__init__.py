"""The planner: what a long lossless link needs, by formulas that runs check."""

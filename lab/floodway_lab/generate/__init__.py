"""Files that are generated from the definition of mechanisms, topologies and workloads: `make generate`.

The simulator's native module provides the grammar as JSON Schema and the documentation of each mechanism.
From these come the schema's file, the builders of `floodway.builders` and the pages of the documentation.
"""

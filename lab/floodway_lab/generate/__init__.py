"""What is written from the one definition of mechanisms, topologies and workloads: `make generate`.

The simulator's native module gives the grammar as JSON Schema and what each mechanism's file says of itself;
from these come the schema's file, the builders of `floodway.builders` and the pages of the documentation.
"""

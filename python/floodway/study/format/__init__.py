"""The format of studies: their files parsed into a model."""

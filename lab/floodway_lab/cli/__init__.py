"""The commands `floodway reproduce` and `floodway validate`."""

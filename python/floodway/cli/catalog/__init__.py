"""The catalog of what scenarios and commands can name, and of ready scenarios, with their documentation."""

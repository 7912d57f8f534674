"""Scenarios, their keys and tables, and mechanisms of users' own."""

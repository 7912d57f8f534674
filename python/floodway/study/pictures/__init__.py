"""Pictures of a study."""

"""Reports of studies: claims and their verdicts, pictures, tables and pages."""

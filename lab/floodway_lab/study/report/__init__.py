"""The report of studies: tables, texts and the page."""

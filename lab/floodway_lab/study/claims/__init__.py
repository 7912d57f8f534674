"""Claims of a study: numbers of its runs beside those published, with verdicts."""

"""Groups for a new version of a table that was released before: nobody's candidates are narrowed below the requirements."""

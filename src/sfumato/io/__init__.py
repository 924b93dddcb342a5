"""Files and frames in; each reader returns a table as it was written, before any schema is applied."""

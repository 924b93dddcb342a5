"""The report of a disclosure risk: curves, tables, text, plots and the page."""

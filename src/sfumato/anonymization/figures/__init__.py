"""The tables that the figures of a grouped release's report are drawn from, as plain data."""

"""The tables that a report is drawn from, as plain data."""

from sfumato.reports.tables.figure_tables import figures, internal_figures

__all__ = ["figures", "internal_figures"]

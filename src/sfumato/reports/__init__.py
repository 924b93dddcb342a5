"""Reports: tables of figures, plots drawn from them, and one self-contained HTML page."""

from sfumato.reports._report import report
from sfumato.reports.grouped_page import page
from sfumato.reports.report_files import free_page, write_page
from sfumato.reports.tables.figure_tables import figures, internal_figures

__all__ = ["figures", "free_page", "internal_figures", "page", "report", "write_page"]

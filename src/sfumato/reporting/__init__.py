"""The report: tables that figures are drawn from, the page that draws them, and its file."""

from sfumato.reporting.page import page
from sfumato.reporting.tables import figures, internal_figures

__all__ = ["figures", "internal_figures", "page"]

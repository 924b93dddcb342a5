"""The tables that a report is drawn from, as plain data: one idea per file, gathered in one."""

from sfumato.reporting.tables.gathered import figures, internal_figures
from sfumato.reporting.tables.risks import risk_content

__all__ = ["figures", "internal_figures", "risk_content"]

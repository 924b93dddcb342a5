"""The report: tables that figures are drawn from, the page that draws them, and its file."""

from sfumato.reporting.files import free_page, write_page
from sfumato.reporting.page import page
from sfumato.reporting.projection_page import projected_page, projection_page
from sfumato.reporting.report import report
from sfumato.reporting.risk_page import risk_page
from sfumato.reporting.tables import figures, internal_figures, risk_content
from sfumato.reporting.withheld_page import withheld_page

__all__ = [
    "figures",
    "free_page",
    "internal_figures",
    "page",
    "projected_page",
    "projection_page",
    "report",
    "risk_content",
    "risk_page",
    "withheld_page",
    "write_page",
]

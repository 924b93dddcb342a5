"""Texts that mean a missing value, or may."""

from __future__ import annotations

CLEAR = ("?", "NULL", "null", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "\\N")
"""Texts that always mean missing."""

DOUBTFUL = (
    "NA", "na", "None", "none", "-", "--", ".", "Unknown", "unknown", "UNKNOWN", "Missing", "missing", "Not in universe",
    "Not applicable", "not applicable", "Refused", "Don't know", "unbekannt", "k.A.", "keine Angabe", "inconnu", "n.c.",
)  # fmt: skip
"""Texts that often mean missing, but may be values (NA is Namibia): missing only if all other cells are numbers."""

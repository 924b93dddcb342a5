"""The release: what is published, how it comes about, and how it is written."""

from sfumato.release.anonymize import anonymize, checked_seed, checked_share
from sfumato.release.attempt import attempt_with
from sfumato.release.describe_projection import curve_content
from sfumato.release.full_domain import FullDomain, full_domain
from sfumato.release.project import attributes_apart, checked_limit, project
from sfumato.release.projection import Projection, Threshold
from sfumato.release.release import Release
from sfumato.release.replay import replay
from sfumato.release.save import free_target
from sfumato.release.save_withheld import risk_checks
from sfumato.release.withhold import Disclosure, withhold, withhold_in

__all__ = [
    "Disclosure",
    "FullDomain",
    "Projection",
    "Release",
    "Threshold",
    "anonymize",
    "attempt_with",
    "attributes_apart",
    "checked_limit",
    "checked_seed",
    "checked_share",
    "curve_content",
    "free_target",
    "full_domain",
    "project",
    "replay",
    "risk_checks",
    "withhold",
    "withhold_in",
]

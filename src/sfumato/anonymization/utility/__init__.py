"""The utility of a release: information loss, group sizes, errors of count queries, marginals."""

from sfumato.anonymization.utility.associations import Association, associations
from sfumato.anonymization.utility.count_queries import QueryErrors, query_errors
from sfumato.anonymization.utility.group_sizes import ClassSizes, average_class_size, class_sizes, discernibility
from sfumato.anonymization.utility.information_loss import (
    Loss,
    certainty_penalty,
    column_losses,
    group_losses,
    mean_loss,
    normalised_loss,
)
from sfumato.anonymization.utility.marginals import Marginal, marginals
from sfumato.anonymization.utility.utility_summary import Utility, percent, utility_of
from sfumato.anonymization.utility.workload import Workload

__all__ = [
    "Association",
    "ClassSizes",
    "Loss",
    "Marginal",
    "QueryErrors",
    "Utility",
    "Workload",
    "associations",
    "average_class_size",
    "certainty_penalty",
    "class_sizes",
    "column_losses",
    "discernibility",
    "group_losses",
    "marginals",
    "mean_loss",
    "normalised_loss",
    "percent",
    "query_errors",
    "utility_of",
]

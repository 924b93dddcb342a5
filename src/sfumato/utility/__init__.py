"""The utility of a release: what is lost, how large the groups are, and how far off answers from it are."""

from sfumato.utility.classes import ClassSizes, average_class_size, class_sizes, discernibility
from sfumato.utility.loss import Loss, certainty_penalty, column_losses, group_losses, mean_loss, normalised_loss
from sfumato.utility.marginals import Marginal, marginals
from sfumato.utility.queries import QueryErrors, query_errors
from sfumato.utility.summary import Utility, percent, utility_of
from sfumato.utility.workload import Workload

__all__ = [
    "ClassSizes",
    "Loss",
    "Marginal",
    "QueryErrors",
    "Utility",
    "Workload",
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

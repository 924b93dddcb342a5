"""Lower bounds on the loss of every grouping: what no method can fall below."""

from sfumato.anonymization.loss_bounds._loss_bound import loss_bound

__all__ = ["loss_bound"]

from ._verify import verify
from .checks import Check, Verification

__all__ = ["Check", "Verification", "verify"]

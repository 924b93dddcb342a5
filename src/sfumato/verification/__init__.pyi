from ._verify import verify
from ._verify_sequence import verify_sequence
from .checks import Check, Verification

__all__ = ["Check", "Verification", "verify", "verify_sequence"]

"""The folder of a job: what the worker process writes to it, and the server reads. Either imports this, and little else."""

from __future__ import annotations

RELEASE, KEY, INTERNAL = "release", "key.json", "internal.html"
"""The folder that may be published, the private key, and the internal report."""

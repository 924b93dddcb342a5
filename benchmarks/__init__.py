"""Benchmarks, run from a checkout with `python -m benchmarks`; they are not part of the wheel.

- `datasets`: the tables that are measured, with their schemas and requirements.
- `costs`: CPU time, memory and loss of one function each, as ratios to a baseline in the same run.
- `experiments`: published experiments repeated, as CSV tables and as plots drawn from those tables.
"""

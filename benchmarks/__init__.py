"""Benchmarks: one per file, each a function that returns figures; `python -m benchmarks` runs them."""

"""Benchmarks: one per file, each a function that returns figures; `sfumato bench` runs them."""

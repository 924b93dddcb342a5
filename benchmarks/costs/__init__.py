"""Benchmarks of CPU time and memory, one function of sfumato per file; each `run` returns figures by name."""

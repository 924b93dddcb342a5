"""Compiled loops: arrays in, arrays filled. No classes, options or errors; each docstring states its cost."""

"""Compiled loops: arrays in, arrays filled. No classes, options or errors; each docstring states its cost.

Rules that all kernels follow:

- The caller checks the input and allocates every array. A kernel fills arrays that it is given and keeps none of them.
- An array that a docstring calls scratch belongs to the caller, has the stated content on entry and has it again on return.
- Ranges are half-open: `offsets[g]:offsets[g + 1]` are the entries of group g.
- Floats are IEEE floats and are added in a fixed order, so that the same input gives the same bits on every machine.
"""

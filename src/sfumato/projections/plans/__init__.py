"""Plans over several sensitive attributes: how attributes depend on one another, and which to publish together.

Start with `dependence.py` (what is measured) and `plan.py` (what is chosen); `plan_search.py` and `tradeoff_curve.py`
choose.
"""

"""Publish several sensitive attributes in several tables, so that one attribute does not reveal another.

The method is that of Fang, Ashrafi & Ng (2011). Where to look:

    _project.py, projection.py      `sf.project` and its result
    plans/                          dependence of attributes, plans, search, trade-off
    encoded_sets.py                 sets as bits
    projected_tables.py, plan_choice.py, common_people.py    the steps of `sf.project`
    projection_document.py, projection_page.py, *_figures.py release.json and the reports
    checks/                         verification of a projected release; imports none of the above
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

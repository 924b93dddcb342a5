"""Publish people with exact quasi-identifiers, and the secrets of their groups in tables of their own.

The form is the anatomy of Xiao & Tao (2006a). Where to look:

    _anatomize.py, anatomy_release.py        `sf.anatomize` and its result
    separated_tables.py                      from groups to tables
    anatomy_queries.py                       the error of counts that an analyst makes from the tables
    anatomy_document.py, anatomy_page.py     release.json and the report
    checks/                                  verification; imports none of the above

The format of the tables is in `sfumato.releases.anatomy_tables`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

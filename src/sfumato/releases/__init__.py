"""The release format: what a release folder contains, and how it is read and written.

models.py, figure_models.py, model_base.py    release.json as types
kinds.py                                      the kinds of releases, each with its model, its checks and its page
cells.py, cell_coverage.py                    the grammar of cells, and which values a cell covers
reader.py, table_files.py, digests.py         read and check a folder
writer.py, folder.py, declarations.py         write a folder, verified before it is put in place
expectations.py                               what a maker, or a caller of `sf.verify`, expects of a release
private.py                                    keep what must not be published apart
json_schema.py                                the JSON Schema of release.json
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

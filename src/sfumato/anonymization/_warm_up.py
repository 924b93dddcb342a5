"""Load the kernels before they are needed."""

from __future__ import annotations

import pyarrow as pa

from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Glaze, Mondrian
from sfumato.data.schema import Schema
from sfumato.principles import Dissimilarity, FrequencyLDiversity, KAnonymity
from sfumato.progress import Progress, silent

_ROWS = 60


def warm_up(progress: Progress = silent) -> None:
    """Load the kernels that most releases need, and compile them if this machine has not done so yet.

    The first release of a process takes one to two seconds longer than the next, and on a new machine twenty more. A server
    or a notebook calls this before its user waits. It anonymizes a table of 60 rows. Methods and distances that few
    releases need are loaded when they are used.

    >>> import sfumato as sf
    >>> sf.warm_up()
    """
    data = pa.table({"age": range(_ROWS), "town": ["a", "b", "c"] * (_ROWS // 3), "pay": range(_ROWS)})
    schema = Schema(["age", "town"], ["pay"])
    requirements = [KAnonymity(2), FrequencyLDiversity(2), Dissimilarity(1, "0.5", 2)]
    for number, method in enumerate((Glaze(), Mondrian())):
        progress("loading kernels", number / 2)
        release = anonymize(data, schema, requirements, method=method, seed=0)
        _ = release.document, release.utility.queries

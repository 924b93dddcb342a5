"""Previews on samples, the warm-up of kernels, and work that is cancelled."""

from __future__ import annotations

import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization import preview
from sfumato.errors import ParameterError
from sfumato.progress import CancelledError

PEOPLE = sf.synthetic_census(4000).select(["age", "sex", "marital", "income"])
SCHEMA = sf.Schema(["age", "sex", "marital"], ["income"])


def test_an_extrapolated_loss_is_nearer_to_the_true_one_than_that_of_the_sample():
    found = preview(PEOPLE, SCHEMA, sf.KAnonymity(5), sample=800)
    true = sf.anonymize(PEOPLE, SCHEMA, sf.KAnonymity(5), seed=0).loss
    assert found.loss > found.expected
    assert abs(found.expected - true) < abs(found.loss - true) / 2
    assert "extrapolated" in repr(found) and "sample of 800 rows" in repr(found)


def test_a_preview_of_all_rows_is_no_sample():
    few = PEOPLE.slice(0, 300)
    found = preview(few, SCHEMA, sf.KAnonymity(5), sample=1000)
    assert (found.is_sample, found.sampled, found.expected) == (False, 300, found.loss)
    assert "extrapolated" not in repr(found)


def test_what_a_sample_does_not_reach_is_said():
    found = preview(PEOPLE, SCHEMA, sf.KAnonymity(900), sample=800)
    assert found.loss is found.expected is None
    assert "not reached on a sample of 800 rows; on all 4,000 they may be" in repr(found)
    with pytest.raises(ParameterError, match="invalid sample"):
        preview(PEOPLE, SCHEMA, sf.KAnonymity(2), sample=0)


WARM = """
import sys
import sfumato as sf
sf.warm_up()
def loaded():
    kernels = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("sfumato.kernels."):
            for key, thing in vars(module).items():
                if isinstance(getattr(thing, "signatures", None), list):
                    kernels[name, key] = len(thing.signatures)
    return kernels
before = loaded()
data = sf.synthetic_census(400).select(["age", "sex", "marital", "income"])
wanted = [sf.KAnonymity(5), sf.Dissimilarity(2, "0.5", 5)]
sf.anonymize(data, sf.Schema(["age", "sex", "marital"], ["income"]), wanted, seed=0)
print(sorted(key for key, count in loaded().items() if count != before.get(key, 0)))
"""


def test_after_the_warm_up_a_release_loads_no_kernel():
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_work_ends_at_the_next_report_after_it_was_cancelled():
    reports = []
    cancellation = sf.Cancellation(lambda step, share=None: reports.append(step) or cancel(step))

    def cancel(step):
        if step == "finding groups":
            thread = threading.Thread(target=cancellation.cancel)
            thread.start()
            thread.join()

    with pytest.raises(CancelledError, match="cancelled while"):
        sf.anonymize(pa.table({"age": list(range(50))}), sf.Schema(["age"]), sf.KAnonymity(2), progress=cancellation)
    assert reports[-1] == "finding groups" and cancellation.cancelled

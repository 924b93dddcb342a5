"""What executors check, in this process: the same checks with the same results as where all rows are in one process."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import numpy as np
import pytest

import sfumato as sf
from executor_frames import Frames, Rows
from sfumato.spark import coded_rows, executor
from sfumato.verification import grouped_checks
from sfumato.verification.cluster_tables import ClusterTables
from tampered_releases import CASES, PEOPLE, PRINCIPLES, SCHEMA, made, tamper


@pytest.fixture(autouse=True)
def _many_partitions(monkeypatch):
    monkeypatch.setattr(executor.gc, "freeze", lambda: None)
    monkeypatch.setattr(coded_rows, "_ROWS_OF_ONE_PARTITION", 0)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    return {form: made().save(place / form, format=form) for form in ("csv", "parquet")}


def cuts(rows, seed=0):
    return sorted({0, rows, *np.random.default_rng(seed).integers(0, rows + 1, 3).tolist()})


def by_executors(monkeypatch, folder, original, cores=3, published=None, **expected):
    """Verify a release with the code that runs on executors."""

    @contextmanager
    def opened(manifest, declared, requested, frame, expectations):
        rows = None if original is None else Rows(original, cuts(original.num_rows))
        copy = None if published is None else Rows(published, cuts(published.num_rows), "the published rows")
        yield ClusterTables(Frames(cores), manifest, declared, rows, copy)

    with monkeypatch.context() as patch:
        patch.setattr(grouped_checks, "opened_tables", opened)
        return sf.verify(folder, original, engine="stream", **expected)


EXPECTED = {"schema": SCHEMA, "principles": PRINCIPLES, "suppress": 0}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("cores", [1, 4])
def test_a_release_that_nobody_changed(monkeypatch, written, form, cores):
    found = by_executors(monkeypatch, written[form], PEOPLE, cores, **EXPECTED)
    assert found == sf.verify(written[form], PEOPLE, engine="stream", **EXPECTED)
    assert found.holds and not found.not_checked
    alone = by_executors(monkeypatch, written[form], None)
    assert alone == sf.verify(written[form], engine="stream")


@pytest.mark.parametrize(("form", "name"), CASES)
def test_a_changed_release_is_found_in_the_same_way(monkeypatch, written, tmp_path, form, name):
    folder = shutil.copytree(written[form], tmp_path / "release")
    tamper(folder, form, name)
    try:
        local = sf.verify(folder, PEOPLE, engine="stream", **EXPECTED)
    except sf.errors.ReleaseError:
        with pytest.raises(sf.errors.ReleaseError):
            by_executors(monkeypatch, folder, PEOPLE, **EXPECTED)
        return
    assert by_executors(monkeypatch, folder, PEOPLE, **EXPECTED) == local

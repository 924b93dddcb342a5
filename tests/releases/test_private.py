"""A release holds nothing private where it can be pickled, printed or passed around."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from release_kinds import IDENTIFIERS, MAKERS, PEOPLE
from sfumato.releases.private import Private, Unavailable


@pytest.fixture(scope="module", params=sorted(MAKERS))
def release(request):
    return MAKERS[request.param]()


def assert_without_identifiers(content):
    for name in IDENTIFIERS:
        assert name.encode() not in content
        assert name.encode("utf-16-le") not in content


def test_a_pickle_has_no_identifiers(release):
    _ = getattr(release, "frame", None), release.to_dict()
    assert_without_identifiers(pickle.dumps(release))
    assert_without_identifiers(pickle.dumps(pickle.loads(pickle.dumps(release))))


def test_what_is_printed_has_no_identifiers(release):
    for text in (repr(release), str(release), f"{release}", repr(vars(release)), repr(release.private)):
        assert_without_identifiers(text.encode())


def test_the_private_part_cannot_be_pickled(release):
    assert isinstance(release.private, Private)
    assert repr(release.private) == f"{type(release.private).__name__}(not for publication)"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(sf.errors.ReleaseError, match="cannot be pickled: it holds what must not be published"):
            pickle.dumps(release.private, protocol)
    assert copy.copy(release.private) is copy.deepcopy(release.private) is release.private


def test_what_a_pickle_keeps(release, tmp_path):
    again = pickle.loads(pickle.dumps(release))
    assert again.to_dict() == release.to_dict()
    assert again.document == release.document
    assert repr(again) == repr(release)
    assert isinstance(again.private, Unavailable)
    with pytest.raises(sf.errors.ReleaseError, match="is not available: a pickle holds only what may be published"):
        again.save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "data", [PEOPLE, pd.DataFrame(PEOPLE.to_pydict()), pl.from_arrow(PEOPLE)], ids=["arrow", "pandas", "polars"]
)
def test_the_frame_is_kept_in_its_library(data):
    schema = sf.Schema(["age", "town"], ["income"], ["name"], other=["ill"])
    release = sf.anonymize(data, schema, sf.KAnonymity(4), suppress="0.2")
    again = pickle.loads(pickle.dumps(release))
    assert_without_identifiers(pickle.dumps(again))
    assert type(again.frame) is type(release.frame)
    assert again.frame.equals(release.frame)
    assert (again.audit.holds, again.loss) == (release.audit.holds, release.document.utility.loss.mean)
    with pytest.raises(sf.errors.ReleaseError, match="not available"):
        _ = again.utility

"""A release holds nothing private where it can be pickled, printed or passed around."""

from __future__ import annotations

import copy
import dataclasses
import inspect
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


@pytest.mark.parametrize("open_fields", [dataclasses.asdict, dataclasses.astuple, vars])
def test_the_private_part_stays_closed(release, open_fields):
    assert not dataclasses.is_dataclass(release.private)
    _ = release.document, getattr(release, "frame", None)
    fields = open_fields(release)
    assert release.private in (fields.values() if isinstance(fields, dict) else fields)
    assert_without_identifiers(repr(fields).encode())
    with pytest.raises(sf.errors.ReleaseError, match="cannot be pickled"):
        pickle.dumps(fields)


def test_the_private_part_is_constant(release):
    (name, value), *_ = vars(release.private).items()
    with pytest.raises(AttributeError, match="cannot be set"):
        setattr(release.private, name, None)
    assert getattr(release.private, name) is value
    with pytest.raises(TypeError, match="unknown fields"):
        type(release.private)(**vars(release.private), nonsense=1)
    with pytest.raises(TypeError, match="missing fields"):
        type(release.private)()


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_the_private_part(release, make_copy, tmp_path):
    again = make_copy(release)
    assert again is not release
    assert again.private is release.private
    assert repr(again) == repr(release)
    assert again.document == release.document
    assert (again.save(tmp_path / "out") / "release.json").exists()
    assert_without_identifiers(pickle.dumps(again))
    assert isinstance(pickle.loads(pickle.dumps(again)).private, Unavailable)


def test_an_unpickled_release_can_be_inspected(release):
    again = pickle.loads(pickle.dumps(release))
    for name in ("utility", "source", "setting"):
        assert not hasattr(again, name)
    assert dict(inspect.getmembers(again))["document"] == release.document
    assert_without_identifiers(repr(dataclasses.asdict(again)).encode())
    assert repr(copy.deepcopy(again)) == repr(copy.copy(again)) == repr(release)
    with pytest.raises(sf.errors.UnavailableError) as caught:
        _ = again.private.anything
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), AttributeError)


def test_a_pickle_of_an_audit_has_no_identifiers():
    audit = sf.audit(PEOPLE, sf.Schema(["age"], ["income"], ["name"]), sf.KAnonymity(2))
    again = pickle.loads(pickle.dumps(audit))
    assert_without_identifiers(pickle.dumps(audit))
    assert repr(again) == repr(audit)
    assert again.details().equals(audit.details())
    assert "name" in audit.table.data.column_names


def test_the_risk_is_printed_without_identifiers():
    release = MAKERS["withheld"]()
    assert_without_identifiers((repr(release.risk) + repr(release.full_risk)).encode())
    assert release.full_risk.worst_records(1)[0].identity in IDENTIFIERS


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

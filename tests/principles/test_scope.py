"""Which attributes a principle is measured on, and what is left of it in a table that has only some of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.principles import attributes_of, in_projection

SETS = {"dx": ("dx=a", "dx=b", "dx=c"), "rx": ("rx=a", "rx=b")}
PARTS = ["job", "pay", *SETS["dx"], *SETS["rx"]]
NAMES = ["job", "pay", "dx", "rx"]

scopes = st.one_of(
    st.sampled_from(["each", "whole", None, *NAMES]), st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(tuple)
)


@given(scopes, st.lists(st.sampled_from(PARTS), min_size=1, unique=True))
def test_what_a_principle_becomes_in_a_projection(on, here):
    """What is named must be here as a whole, or not at all; bits of a set are taken together."""
    found = in_projection(sf.TCloseness("0.2", on=on), here, SETS)
    if on == "whole":
        assert [one.on for one in found] == ["whole"]
    elif on in ("each", None):
        together = [tuple(bit for bit in here if bit in bits) for bits in SETS.values()]
        assert [one.on for one in found] == [on, *(bits for bits in together if len(bits) > 1)]
    else:
        names = (on,) if isinstance(on, str) else on
        needed = [part for name in names for part in SETS.get(name, (name,))]
        missing = set(needed) - set(here)
        if not missing:
            (one,) = found
            assert one.parameters()["t"] == "0.2"
            assert list((one.on,) if isinstance(one.on, str) else one.on) == needed
        else:
            assert found == (() if missing == set(needed) else None)


def test_k_anonymity_stays_as_it_is():
    assert in_projection(sf.KAnonymity(5), ["job"], SETS) == (sf.KAnonymity(5),)


SCHEMA = sf.Schema(["age"], ["ill", "job", "pay"])


@pytest.mark.parametrize(
    ("on", "attributes"),
    [
        (None, [("ill",), ("job",), ("pay",)]),
        ("each", [("ill",), ("job",), ("pay",)]),
        ("whole", [("ill", "job", "pay")]),
        ("job", [("job",)]),
        (("pay", "ill"), [("pay", "ill")]),
    ],
)
def test_attributes(on, attributes):
    assert attributes_of(sf.TCloseness("0.2", on=on), SCHEMA) == attributes
    assert attributes_of(sf.KAnonymity(2), SCHEMA) == [()]
    assert attributes_of(sf.KAnonymity(2), sf.Schema(["age"])) == [()]


@pytest.mark.parametrize(
    ("on", "schema", "words"),
    [
        ("jobs", SCHEMA, r"(?s)`on` names a column.*Did you mean 'job'\?"),
        ("age", SCHEMA, "`on` names a column that is not a sensitive attribute"),
        (("ill", "age"), SCHEMA, "`on` names a column that is not a sensitive attribute"),
        (("ill", "ill"), SCHEMA, "names no attribute, or one of them twice"),
        ((), SCHEMA, "names no attribute"),
        ("each", sf.Schema(["age"]), "declares no sensitive column"),
        ("ill", sf.Schema(["age"]), "declares no sensitive column"),
    ],
)
def test_what_no_principle_can_be_measured_on(on, schema, words):
    with pytest.raises(sf.errors.SfumatoError, match=words):
        attributes_of(sf.TCloseness("0.2", on=on), schema)

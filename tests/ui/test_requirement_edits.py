"""Every principle can be added to a config with one click, and its parameters are entered as people write them."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.registry import PRINCIPLES
from sfumato.ui.opening import open_source
from sfumato.ui.requirement_edits import add_requirement, config_of, population_of, set_parameter, set_population
from sfumato.ui.session import Session

CONFIG = """[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
"""


@pytest.fixture
def session(tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n" + "30,flu\n41,gout\n52,HIV\n33,flu\n" * 10, encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    found = Session()
    open_source(found, str(tmp_path / "sfumato.toml"))
    yield found
    found.folder.close()


@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_principle_can_be_added(session, name):
    add_requirement(session, {"name": name}, session.history.version)
    assert [principle.name for principle in config_of(session).requested_principles] == [name]


def test_several_values_are_entered_and_what_is_optional_is_left_out(session):
    add_requirement(session, {"name": "guarded-values"}, session.history.version)
    for field, value in {"values": "HIV; gout", "l": "4", "epsilon": "0", "k": ""}.items():
        set_parameter(session, {"position": "0", field: value}, session.history.version)
    (principle,) = config_of(session).requested_principles
    assert principle == sf.GuardedValues(["HIV", "gout"], l=4, epsilon=0, delta=1)


def test_people_are_guarded_by_a_column_and_a_rule(session):
    """A new requirement begins with the first quasi-identifier and its rarest value; both are entered as texts."""
    add_requirement(session, {"name": "guarded-people"}, session.history.version)
    (principle,) = config_of(session).requested_principles
    assert (principle.column, principle.values) == ("age", "30")
    for field, value in {"column": "ill", "values": "HIV; gout", "k": "7"}.items():
        set_parameter(session, {"position": "0", field: value}, session.history.version)
    (principle,) = config_of(session).requested_principles
    assert principle == sf.GuardedPeople("ill", ["HIV", "gout"], k=7, l=principle.l)


def test_a_population_is_named_and_removed(session, tmp_path):
    (tmp_path / "register.csv").write_text("age\n" + "30\n33\n41\n52\n" * 25, encoding="utf-8")
    assert population_of(session) is None
    add_requirement(session, {"name": "k-map"}, session.history.version)
    assert population_of(session) == ""
    with pytest.raises(sf.errors.ParameterError, match="none is declared"):
        sf.audit(session.table, None, sf.KMap(20))
    set_population(session, {"path": " register.csv "}, session.history.version)
    assert population_of(session) == "register.csv"
    assert sf.audit(session.table, None, sf.KMap(20))[0].levels == {"k": 25}
    set_population(session, {"path": ""}, session.history.version)
    assert (config_of(session).population, population_of(session)) == (None, "")

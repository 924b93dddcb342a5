"""The checks that plug-ins may call: every built-in class passes them, and each mistake is found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import registry, testing
from sfumato.exact import Ratios
from sfumato.principles import Measurement, Part
from sfumato.registry import METHODS, PRINCIPLES, required_parameters
from small_tables import REGISTER

PARAMETERS = {
    "k-anonymity": sf.KAnonymity(2),
    "dissimilarity": sf.Dissimilarity(1, "0.5", 2),
    "alpha-k-anonymity": sf.AlphaKAnonymity("0.5", 2),
    "p-sensitivity": sf.PSensitivity(2, 2),
    "epsilon-m-anonymity": sf.EpsilonMAnonymity(1, "1.5"),
    "delta-l-diversity": sf.DeltaLDiversity("0.5", "1.5"),
    "k-e-anonymity": sf.KEAnonymity(2, 2),
    "variance-control": sf.VarianceControl(2),
    "k-map": sf.KMap(16),
    "delta-presence": sf.DeltaPresence(1, "0.1"),
    "k-m-anonymity": sf.KMAnonymity(2, 2),
    "guarded-values": sf.GuardedValues([1, 5], 2, 2, 1, "0.5"),
    "credibility": sf.Credibility("0.7"),
}
"""Parameters that small groups can satisfy, where those of the worked example are too strict."""


@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_principle(name):
    schema = sf.Schema(["q"], ["s"], population=sf.Population(REGISTER))
    testing.check_principle(PARAMETERS.get(name, PRINCIPLES[name].example().principle), schema)


@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_parameter_has_a_range_and_a_meaning(name):
    kind = PRINCIPLES[name]
    parameters = [field.name for field in fields(kind) if field.name != "on"]
    assert sorted(kind.ranges) == sorted(parameters)
    controls = {control.name: control for control in sf.principles.parameter_controls(kind)}
    assert list(controls) == parameters
    assert all(control.meaning for control in controls.values())
    assert [name for name in parameters if controls[name].required] == required_parameters(kind)


@pytest.mark.parametrize("name", METHODS)
def test_every_method(name):
    principles = [sf.Dissimilarity(1, "0.5", 2)] if name == "xcolor" else [sf.KAnonymity(2)]
    testing.check_method(METHODS[name](), principles)


NEW_PRINCIPLE = '''
from dataclasses import dataclass, fields
from sfumato.principles.principle import Measurement, Principle, size_part
from sfumato.principles.worked_example import two_age_groups

@dataclass(frozen=True)
class Triples(Principle):
    """Every group contains at least three people.

    In plain words: nobody is narrowed down to fewer than three people.

    Monotone.

    Does not protect against anything else.

    Source: Nobody (2026), a test.
    """

    name = "triples"
    title = "triples"
    family = "size"
    scope = "groups"
    monotone = True

    def measure(self, view):
        return Measurement((size_part(view, 3),))

    @classmethod
    def example(cls):
        return two_age_groups(cls(), "illness", (("flu",) * 3, "three people", "3"), (("flu",), "one person", "1"))
'''


def test_a_new_principle_is_one_file_and_one_line(tmp_path, monkeypatch):
    """A file beside the others and a line in the registry: Python, configs, explanations and pages know it."""
    (tmp_path / "triples.py").write_text(NEW_PRINCIPLE, encoding="utf-8")
    monkeypatch.setattr(sf.principles, "__path__", [*sf.principles.__path__, str(tmp_path)])
    monkeypatch.setitem(registry.PRINCIPLES.entries, "triples", "sfumato.principles.triples:Triples")
    kind = PRINCIPLES["triples"]
    testing.check_principle(kind())
    assert sf.principles.Triples is kind
    explanation = sf.explain("triples")
    assert explanation.python() == "sf.principles.Triples()"
    assert [line.holds for line in explanation.measured.lines()] == [True, False]
    config = sf.Config.parse('[data]\npath = "x.csv"\n[columns.age]\nrole = "quasi-identifier"\n' + explanation.toml())
    assert config.requested_principles == (kind(),)
    people = {"age": list(range(20))}
    for method in ("auto", "mondrian", "lattice"):
        import pyarrow as pa

        release = sf.anonymize(pa.table(people), sf.Schema(["age"]), "triples", method=method)
        assert sf.verify(release.save(tmp_path / method)).holds
    monkeypatch.syspath_prepend("docs")
    import make_principles

    assert "(principles/triples.md)" in make_principles.principles_page()
    assert make_principles.principle_page("triples").startswith("# triples")


@dataclass(frozen=True)
class Sizes(sf.Principle):
    """Every group contains at least two rows."""

    name = "sizes"
    scope = "groups"

    def measure(self, view):
        return Measurement((Part.at_least("k", Ratios.whole(view.groups.sizes), Fraction(2)),))


def variant(base=Sizes, **attributes):
    return dataclass(frozen=True)(type("Variant", (base,), {"__doc__": "A variant.", "name": "variant", **attributes}))()


def odd(self, view):
    return Measurement((Part.at_most("odd", Ratios.whole(view.groups.sizes % 2), Fraction(0)),))


def small(self, view):
    return Measurement((Part.at_most("k", Ratios.whole(view.groups.sizes), Fraction(4)),))


def by_rows(self, view):
    sizes = np.bincount(view.groups.of_row)
    return Measurement((Part.at_least("k", Ratios.whole(sizes), Fraction(2)),))


def first_row(self, view):
    first = view.groups.of_row[0] == np.arange(view.groups.count)
    return Measurement((Part.at_least("first", Ratios.whole(first.astype(np.int64)), Fraction(1)),))


@dataclass(frozen=True)
class Laxer(sf.Principle):
    """Every group contains at most some rows.

    - `rows`: the largest number of rows.
    """

    rows: int
    name = "laxer"
    scope = "groups"
    ranges = {"rows": sf.principles.ParameterRange("whole", "rows", "higher", (1, 9), least=1)}  # noqa: RUF012

    def __post_init__(self):
        self.check_ranges()

    def measure(self, view):
        return Measurement((Part.at_most("rows", Ratios.whole(view.groups.sizes), self.rows),))


@pytest.mark.parametrize(
    ("principle", "words"),
    [
        (variant(measure=small, monotone=True), "is declared monotone"),
        (variant(measure=odd, monotone=True, absorbing=True), "is declared absorbing"),
        (variant(measure=by_rows, histogram_only=True), "measure\\(\\) reads rows"),
        (variant(implied_k=property(lambda self: 3)), "fewer than implied_k = 3"),
        (variant(measure=first_row), "depends on the order of the rows"),
        (variant(measure=lambda self, view: None), "must return a Measurement"),
        (variant(absorbing=True), "an absorbing principle is monotone"),
        (variant(measure=odd, size_only=True, implied_k=property(lambda self: 1)), "size alone does not decide"),
        (Laxer(2), "declared to get stricter"),
        (variant(certificate=lambda self, view: "no"), "certificate\\(\\) rules out"),
        (variant(as_dissimilarity=lambda self: sf.Dissimilarity(1, 1, 5), scope="whole"), "not equivalent"),
    ],
)
def test_what_a_principle_declares_wrongly_is_found(principle, words):
    with pytest.raises(AssertionError, match=words):
        testing.check_principle(principle)


def test_capabilities_are_not_inherited_by_another_measure():
    """What was true of the parent's measure need not be true of the child's."""

    class Other(sf.KAnonymity):
        name = "other"

        def measure(self, view):
            return odd(self, view)

    class Same(sf.KAnonymity):
        name = "same"

    assert (Same.monotone, Same(2).implied_k, Same(2).searchable, Same.size_only) == (True, 2, True, True)
    assert (Other.monotone, Other(2).implied_k, Other(2).searchable, Other.size_only) == (False, None, False, False)
    assert Other.example() is None and Other.title == "other"


class Unstable(sf.Method):
    calls = 0

    def group(self, task, seed=0):
        Unstable.calls += 1
        return sf.anonymization.Grouping(np.arange(task.table.rows) % (Unstable.calls % 2 + 1))


class Gaps(sf.Method):
    def group(self, task, seed=0):
        return sf.anonymization.Grouping(np.arange(task.table.rows) * 2)


@pytest.mark.parametrize(("method", "words"), [(Unstable(), "same groups"), (Gaps(), "without gaps")])
def test_what_a_method_does_wrongly_is_found(method, words):
    with pytest.raises(AssertionError, match=words):
        testing.check_method(method)


@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda x, y: abs(x - y) + (x == y), "itself is not 0"), (lambda x, y: x - y if x > y else 0, "both ways")],
)
def test_what_a_distance_does_wrongly_is_found(function, words):
    with pytest.raises((AssertionError, sf.errors.DistanceError), match=words):
        testing.check_distance(sf.distances.Custom(function))

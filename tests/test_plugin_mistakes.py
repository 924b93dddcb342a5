"""Mistakes in a class of one's own: the error names the class and says what to do; sfumato is not blamed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from commandline import sfumato
from plugin_installation import write_dist_info
from sfumato.anonymization import Grouping, Task, renumber
from sfumato.exact import Number, Ratios
from sfumato.principles import Measurement, Part

PEOPLE = pa.table({"age": [30, 31, 50, 51], "pay": [1, 9, 2, 8]})
SCHEMA = sf.Schema(["age"], ["pay"])


class Sizes(sf.Principle):
    def measure(self, view):
        return Measurement((Part.at_least("k", Ratios.whole(view.groups.sizes), 1),))


class NoDataclass(Sizes):
    name = "no-dataclass"
    scope = "groups"


@dataclass(frozen=True)
class NoName(Sizes):
    scope = "groups"


@dataclass(frozen=True)
class NoScope(Sizes):
    name = "no-scope"


@dataclass(frozen=True)
class InvalidScope(Sizes):
    name = "invalid-scope"
    scope = "group"


@pytest.mark.parametrize(
    ("principle", "problem"),
    [
        (NoDataclass(), r"NoDataclass is not a dataclass. Decorate the class with @dataclass\(frozen=True\)"),
        (NoName(), "NoName has no name. Add name = "),
        (NoScope(), "NoScope has no scope. Add scope = … to the class, one of: 'groups', 'each', 'whole'"),
        (InvalidScope(), "InvalidScope has the invalid scope 'group'"),
        (sf.KAnonymity, r"the class KAnonymity is not a principle: .* Pass sf.KAnonymity\(k=3\)"),
    ],
)
def test_a_principle_class_that_lacks_something(principle, problem):
    for use in (sf.audit, sf.anonymize, sf.feasibility):
        with pytest.raises(sf.errors.ParameterError, match=problem):
            use(PEOPLE, SCHEMA, principle)


@dataclass(frozen=True)
class Returns(sf.Principle):
    """Returns what it is given as its measurement."""

    result: object

    name = "returns"
    scope = "groups"
    monotone = True

    def measure(self, view):
        return self.result(view) if callable(self.result) else self.result


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (True, "returns bool, not a Measurement"),
        (Measurement(()), "not a tuple of Part"),
        (Measurement(Part.at_least("k", Ratios.whole(np.array([1])), 1)), "not a tuple of Part"),
        (Measurement((Part.at_least("k", Ratios.whole(np.arange(9)), 0),)), "part 'k' that does not have one level"),
    ],
)
def test_what_is_no_measurement(result, problem):
    for use in (sf.audit, sf.anonymize):
        with pytest.raises(sf.errors.ParameterError, match=rf"test_plugin_mistakes.Returns.measure\(\) .*{problem}"):
            use(PEOPLE, SCHEMA, Returns(result))


@pytest.mark.parametrize("make", [Part.at_least, Part.at_most, Part.below])
def test_levels_must_be_exact(make):
    with pytest.raises(TypeError, match=r"the part 'share' are of type ndarray, not Ratios: pass Ratios\("):
        make("share", np.array([0.5]), Fraction(1, 2))


def test_a_threshold_is_any_number():
    levels = Ratios(np.array([1, 2]), np.array([10, 10]))
    for threshold in (0.1, "0.1", Fraction(1, 10)):
        part = Part.at_most("share", levels, threshold)
        assert (part.threshold, part.holds.tolist()) == (Fraction(1, 10), [True, False])


@dataclass(frozen=True)
class Gives(sf.Method):
    """Returns what it is given."""

    result: object
    name = "gives"

    def group(self, task, seed=0):
        return self.result


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (np.zeros(4, int), "ndarray, not a Grouping"),
        (Grouping(np.zeros(3, int)), r"group numbers of shape \(3,\) for 4 rows"),
        (Grouping(np.zeros(4)), "group numbers of type float64, not integers"),
        (Grouping(np.array([0, 0, -1, -1])), "the negative group number -1"),
        (Grouping(np.array([0, 0, 2, 2])), "no row in group 1, and rows in group 2"),
    ],
)
def test_what_is_no_grouping(result, problem):
    with pytest.raises(sf.errors.ParameterError, match=rf"test_plugin_mistakes.Gives.group\(\) returns {problem}"):
        sf.anonymize(PEOPLE, SCHEMA, sf.KAnonymity(2), method=Gives(result))


@pytest.mark.parametrize("of_row", [[0, 0, -1, -1], [0, 0, 2, 2], [0, 0]])
def test_satisfied_requires_a_partition(of_row):
    task = Task(sf.Table(PEOPLE, SCHEMA), (sf.KAnonymity(2),))
    with pytest.raises(sf.errors.ParameterError, match=r"task\.satisfied"):
        task.satisfied(np.array(of_row))
    if len(of_row) == 4:
        assert task.satisfied(renumber(of_row)).all()


@dataclass(frozen=True)
class Slices(sf.Method):
    """A method whose parameters are checked like those of a principle."""

    size: int = 2
    share: Number = "0.5"
    order: str = "up"
    name = "slices"

    def __post_init__(self):
        self.check_whole("size", least=2)
        self.set_fraction("share", least=0, most=1)
        self.check_choice("order", ("up", "down"))

    def group(self, task, seed=0):
        return Grouping(np.arange(task.table.rows) // self.size)


def test_parameters_of_a_method():
    assert Slices(share=0.1).share == Fraction(1, 10)
    assert Slices().parameters() == {"size": 2, "share": "0.5", "order": "up"}
    for parameters, problem in (
        ({"size": "4"}, "slices: size = '4' is not a whole number from 2"),
        ({"share": "half"}, "slices: share = 'half' is not a number"),
        ({"share": 2}, "slices: share = 2 is out of range. Give a number of at least 0 and at most 1"),
        ({"order": "left"}, "slices: order = 'left' is unknown. Write one of: up, down"),
    ):
        with pytest.raises(sf.errors.ParameterError, match=problem):
            Slices(**parameters)


def test_a_parameter_that_is_no_number_names_the_principle():
    with pytest.raises(sf.errors.ParameterError, match="t-closeness: t = 'abc' is not a number"):
        sf.TCloseness("abc")


def test_an_unknown_name_may_be_that_of_a_plugin():
    with pytest.raises(sf.errors.ParameterError, match="If a plug-in provides it, install that"):
        sf.audit(PEOPLE, SCHEMA, "lead")


MODULE = """
from dataclasses import dataclass
import numpy as np
import sfumato as sf
from sfumato.principles import Measurement, Part

@dataclass(frozen=True)
class Stride(sf.Method):
    step: int = 2
    name = "stride"
    def __post_init__(self):
        if self.step > 5:
            raise ValueError("the step is too large")
    def group(self, task, seed=0):
        if self.step == 3:
            np.zeros(2).reshape(3)
        return None

@dataclass(frozen=True)
class Lead(sf.Principle):
    "A group has a lead."
    lead: int
    name = "lead"
    scope = "groups"
    def measure(self, view):
        return Measurement((Part.at_least("lead", view.groups.sizes / 2, 1),))

class Unfinished(sf.Method):
    name = "unfinished"
"""

CONFIG = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[output]
path = "release"
"""
K_ANONYMITY = '[[principles]]\nname = "k-anonymity"\nk = 2\n'
LEAD = '[[principles]]\nname = "lead"\nlead = 1\n'


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A plug-in with faults, and a function that runs a verb of sfumato on a config."""
    site, project = tmp_path / "site", tmp_path / "project"
    points = {
        "sfumato.methods": {"stride": "faulty_toy.classes:Stride", "unfinished": "faulty_toy.classes:Unfinished"},
        "sfumato.principles": {"lead": "faulty_toy.classes:Lead"},
    }
    write_dist_info(site, "faulty-toy", "0.1", points)
    (site / "faulty_toy").mkdir()
    (site / "faulty_toy" / "__init__.py").write_text("", encoding="utf-8")
    (site / "faulty_toy" / "classes.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    project.mkdir()
    (project / "people.csv").write_text("age,pay\n30,1\n31,9\n50,2\n51,8\n", encoding="utf-8")

    def run(verb, more):
        (project / "sfumato.toml").write_text(CONFIG + more, encoding="utf-8")
        return sfumato(verb, "sfumato.toml", cwd=project)

    return run


@pytest.mark.parametrize(
    ("verb", "more", "place"),
    [
        ("anonymize", K_ANONYMITY + '[method]\nname = "stride"\nstep = 9\n', "the bug is in faulty_toy.classes.Stride"),
        ("anonymize", K_ANONYMITY + '[method]\nname = "stride"\nstep = 3\n', "the bug is in faulty_toy.classes.Stride"),
        ("audit", LEAD, "the bug is probably in faulty_toy.classes.Lead"),
    ],
)
def test_a_bug_of_a_plugin_is_not_one_of_sfumato(toy, verb, more, place):
    done = toy(verb, more)
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"sfumato: {place} (distribution faulty-toy 0.1)"), last
    assert "bug in sfumato" not in done.stderr


def test_mistakes_of_a_plugin_on_the_command_line(toy):
    done = toy("anonymize", K_ANONYMITY + '[method]\nname = "stride"\n')
    assert done.returncode == 2
    assert "faulty_toy.classes.Stride.group() returns NoneType, not a Grouping" in done.stderr
    done = toy("anonymize", K_ANONYMITY + '[method]\nname = "unfinished"\n')
    assert done.returncode == 2
    assert "faulty_toy.classes.Unfinished does not define group()" in done.stderr
    done = toy("audit", '[[principles]]\nname = "tail"\n')
    assert "principles[0].name: there is no principle 'tail'" in done.stderr
    assert "If a plug-in provides it, install that." in done.stderr


def test_an_explanation_without_example_shows_the_required_parameters(toy):
    explanation = sf.explain("lead")
    assert explanation.python() == "faulty_toy.classes.Lead(lead=…)"
    assert explanation.toml() == '[[principles]]\nname = "lead"\nlead = …'

"""Explanations of principles: the arithmetic of every worked example is evaluated, and the shown verdicts are checked."""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import tomllib
from collections import Counter
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato._explain import explain, find_principle
from sfumato.cli import main
from sfumato.principles import principle_of
from sfumato.registry import PRINCIPLES

OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS = {"abs": abs, "ln": math.log, "exp": math.exp}


def worked_out(arithmetic):
    """The arithmetic as a person writes it, worked out in fractions; in floats from the first logarithm on."""
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", arithmetic)
    tree = ast.parse(text.replace("−", "-").replace("·", "*").replace("^", "**"), mode="eval").body

    def value(node):
        if isinstance(node, ast.Constant):
            return Fraction(node.value)
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](value(node.args[0]))
        return OPERATIONS[type(node.op)](value(node.left), value(node.right))

    return value(tree)


def risk(group, principle):
    return naive.risk(group, lambda x, y: abs(x - y) <= principle.epsilon)


def exp_entropy(group):
    """n / (∏f^f)^(1/n), which is exp(−Σ f/n·ln(f/n))."""
    return len(group) / math.prod(f**f for f in Counter(group).values()) ** (1 / len(group))


def largest_log_ratio(group, table):
    ratios = [Fraction(group.count(v), len(group)) / Fraction(table.count(v), len(table)) for v in set(table)]
    return max(abs(math.log(ratio)) for ratio in ratios)


LEVELS = {
    "k-anonymity": lambda group, table, principle: len(group),
    "dissimilarity": lambda group, table, principle: risk(group, principle),
    "alpha-k-anonymity": lambda group, table, principle: naive.alpha(group),
    "distinct-l-diversity": lambda group, table, principle: naive.distinct(group),
    "frequency-l-diversity": lambda group, table, principle: naive.frequency_l(group),
    "entropy-l-diversity": lambda group, table, principle: exp_entropy(group),
    "recursive-l-diversity": lambda group, table, principle: naive.recursive_level(group, principle.l),
    "p-sensitivity": lambda group, table, principle: naive.distinct(group),
    "epsilon-m-anonymity": lambda group, table, principle: naive.epsilon_m(group, principle.epsilon),
    "delta-l-diversity": lambda group, table, principle: naive.delta_l(group, principle.delta),
    "k-e-anonymity": lambda group, table, principle: naive.value_range(group),
    "variance-control": lambda group, table, principle: naive.variance(group),
    "k-m-anonymity": lambda group, table, principle: naive.rarest_combination(group, principle.m),
    "guarded-values": lambda group, table, principle: Fraction(len(group), group.count(principle.values)),
    "t-closeness": lambda group, table, principle: naive.emd_equal(group, table),
    "beta-likeness": lambda group, table, principle: max(gain for _, gain in naive.gains(group, table)),
    "delta-disclosure": lambda group, table, principle: largest_log_ratio(group, table),
}
"""The level of one group of a table, by the oracles; (n,t)-closeness looks at more than that."""

POPULATION_LEVELS = {
    "k-map": lambda group, population: population[group.key],
    "delta-presence": lambda group, population: Fraction(len(group.secrets), population[group.key]),
    "credibility": lambda group, population: naive.credibility(
        group.people, group.secrets, [((age,), ill) for (age, ill), n in population.items() for _ in range(n)], ["set"], 1
    ),
}
"""The level of one group of a table that is compared with a population: the people of each combination of values."""

SUFFICES = {
    "k-anonymity": lambda level, group, principle: level >= principle.k,
    "dissimilarity": lambda level, group, principle: level <= 1 - principle.delta and len(group) >= principle.k,
    "alpha-k-anonymity": lambda level, group, principle: level <= principle.alpha and len(group) >= principle.k,
    "distinct-l-diversity": lambda level, group, principle: level >= principle.l,
    "frequency-l-diversity": lambda level, group, principle: level >= principle.l,
    "entropy-l-diversity": lambda level, group, principle: naive.entropy_reaches(group, principle.l),
    "recursive-l-diversity": lambda level, group, principle: level < principle.c,
    "p-sensitivity": lambda level, group, principle: level >= principle.p and len(group) >= principle.k,
    "epsilon-m-anonymity": lambda level, group, principle: level >= principle.m,
    "delta-l-diversity": lambda level, group, principle: level >= principle.l,
    "k-e-anonymity": lambda level, group, principle: level >= principle.e and naive.distinct(group) >= principle.k,
    "variance-control": lambda level, group, principle: level >= principle.variance,
    "k-map": lambda level, group, principle: level >= principle.k,
    "delta-presence": lambda level, group, principle: level <= principle.delta_max,
    "k-m-anonymity": lambda level, group, principle: level >= principle.k,
    "guarded-values": lambda level, group, principle: level >= principle.l,
    "t-closeness": lambda level, group, principle: level <= principle.t,
    "n-t-closeness": lambda level, group, principle: level <= principle.t,
    "beta-likeness": lambda level, group, principle: level <= principle.beta,
    "delta-disclosure": lambda level, group, principle: level < principle.delta,
    "credibility": lambda level, group, principle: level <= principle.confidence,
}


def expected_levels(example):
    table = [secret for group in example.groups for secret in group.secrets]
    if example.principle.name == "n-t-closeness":
        keys = [group.key for group in example.groups for _ in group.secrets]
        found = naive.n_t_level(keys, table, example.principle.n, naive.emd_equal)
        return [found[group.key] for group in example.groups]
    if example.population:
        return [POPULATION_LEVELS[example.principle.name](group, dict(example.population)) for group in example.groups]
    return [LEVELS[example.principle.name](group.secrets, table, example.principle) for group in example.groups]


def same(one, other):
    return one == other if not isinstance(other, float) else math.isclose(one, other, rel_tol=1e-12)


def test_every_principle_has_a_worked_example():
    assert all(kind.example() is not None for kind in PRINCIPLES.values())
    assert PRINCIPLES.keys() == SUFFICES.keys() == {*LEVELS, *POPULATION_LEVELS, "n-t-closeness"}


@pytest.mark.parametrize("name", PRINCIPLES)
class TestExamples:
    def test_small_with_one_group_fine_and_one_not(self, name):
        example = PRINCIPLES[name].example()
        assert sum(len(group.secrets) for group in example.groups) <= 8
        assert {line.holds for line in explain(name).measured.lines()} == {True, False}
        assert len({group.key for group in example.groups}) == len(example.groups) <= 3

    def test_the_arithmetic_is_right(self, name):
        """What a person would work out is what the definition says."""
        example = PRINCIPLES[name].example()
        for group, level in zip(example.groups, expected_levels(example), strict=True):
            assert same(worked_out(group.sum), level), group

    def test_what_is_shown_is_what_the_definition_says(self, name):
        found = explain(name).measured
        part = found.parts[0]
        for line, level in zip(found.lines(), expected_levels(found.example), strict=True):
            assert line.holds == SUFFICES[name](level, line.group.secrets, found.example.principle)
            assert float(line.levels[0].replace(",", "")) == pytest.approx(float(level), rel=1e-3)
            sign = re.search(r"([=≈]) [\d.,]+$", line.arithmetic)
            if sign is None:
                assert line.arithmetic.endswith(f": {level}")
            elif sign[1] == "=":
                assert same(Fraction(line.levels[0].replace(",", "")), level)
        assert part.name in found.audit[0].levels

    def test_config_and_python_ask_for_the_example(self, name):
        found = explain(name)
        (section,) = tomllib.loads(found.toml())["principles"]
        assert principle_of(section.pop("name"), section) == found.measured.example.principle
        assert eval(found.python(), {"sf": sf}) == found.measured.example.principle


class TestNames:
    @pytest.mark.parametrize("kind", PRINCIPLES.values(), ids=lambda kind: kind.name)
    def test_config_literature_and_python(self, kind):
        for word in (
            kind.name,
            kind.name.upper(),
            kind.title,
            kind.title.title(),
            kind.__name__,
            kind.name.replace("-", " "),
        ):
            assert find_principle(word) is kind

    @pytest.mark.parametrize(
        ("typed", "meant"),
        [
            ("disimilarity", "dissimilarity"),
            ("t-closness", "t-closeness"),
            ("likeness", "beta-likeness"),
            ("l-diversity", "recursive-l-diversity"),
        ],
    )
    def test_a_slip_is_answered_with_what_was_meant(self, typed, meant):
        with pytest.raises(sf.errors.ParameterError, match=r"Did you mean") as caught:
            find_principle(typed)
        assert meant in caught.value.remedy

    @given(st.text())
    def test_anything_typed_is_answered(self, typed):
        try:
            assert find_principle(typed) in PRINCIPLES.values()
        except sf.errors.ParameterError as error:
            assert "Did you mean" in error.remedy or "The principles are: k-anonymity" in error.remedy


def run(*arguments, columns="100"):
    return CliRunner().invoke(main, ["explain", *arguments], prog_name="sfumato", env={"COLUMNS": columns})


class TestVerb:
    def test_without_an_argument_all_are_listed(self):
        done = run()
        assert done.exit_code == 0
        listed = [line.split()[0] for line in done.output.splitlines() if line[:1].isalpha()]
        assert listed[: len(PRINCIPLES)] == list(PRINCIPLES)

    @pytest.mark.parametrize("columns", ["40", "80", "200"])
    @pytest.mark.parametrize("name", PRINCIPLES)
    def test_everything_is_shown_at_any_width(self, name, columns):
        found = explain(name)
        done = run(name, columns=columns)
        assert done.exit_code == 0
        text = " ".join(done.output.split())
        words = found.words
        for part in (found.kind.title, words.plain, words.definition, words.body, found.merging, words.not_protected):
            assert part in text
        for line in found.measured.lines():
            assert line.arithmetic in text
        assert words.source in text
        lines = [line.rstrip() for line in done.output.splitlines()]
        assert f"  {found.python()}" in lines
        example = lines[lines.index("Example") : lines.index("When groups are merged")]
        verdicts = [line.split()[-1] for line in example if line.endswith(("holds", "FAILS"))]
        assert verdicts == ["holds" if line.holds else "FAILS" for line in found.measured.lines()]
        verbatim = {f"  {line}" for line in (*found.toml().splitlines(), found.python())}
        assert all(len(line) <= int(columns) for line in done.output.splitlines() if line not in verbatim)

    def test_json(self):
        one = json.loads(run("dissimilarity", "--json").output)
        assert one["name"] == "dissimilarity"
        assert one["monotone"] is False
        assert one["example"]["groups"][0]["holds"] is False
        assert [found["name"] for found in json.loads(run("--json").output)] == list(PRINCIPLES)

    @pytest.mark.parametrize("more", [[], ["--json"]])
    def test_an_unknown_principle_is_a_usage_error(self, more):
        done = run("anonymty", *more)
        assert done.exit_code == 2
        assert "there is no principle 'anonymty'" in done.stderr
        assert done.stdout == ""

"""Worked examples of principles: tables small enough to count by hand, in which one group passes and one fails.

The levels and verdicts that are shown with an example are measured. What an example states is how a person works them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.principles.principle import Principle

Secret = str | int | tuple[str, ...]
"""A sensitive value: a text, a whole number, or a set."""


@dataclass(frozen=True)
class ExampleGroup:
    """One group of an example: what its rows share, their sensitive values, and how its level comes about."""

    key: tuple[str, ...]
    """The values of the quasi-identifiers; if these differ within groups, the group's name and then the values of each."""
    secrets: tuple[Secret, ...]
    why: str
    """What there is to count, in words."""
    sum: str
    """The level as arithmetic: numbers, + − · / ^, |…|, ( ), ln and exp."""
    people: tuple[tuple[str, ...], ...] = ()
    """The quasi-identifiers of each row, if they differ within groups."""

    @property
    def shown(self) -> str:
        """The sensitive values as they are displayed."""
        return ", ".join(f"{{{'; '.join(each)}}}" if isinstance(each, tuple) else str(each) for each in self.secrets)


@dataclass(frozen=True)
class Example:
    """A principle with parameters, and a table of a few people to measure it on."""

    principle: Principle
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    groups: tuple[ExampleGroup, ...]
    population: tuple[tuple[tuple[str, ...], int], ...] = ()
    """For each combination of quasi-identifiers how many people of the population have it; empty if there is none.

    A combination may end with a sensitive value.
    """

    @property
    def group(self) -> str | None:
        """The column that names the group of each row; None if rows with equal quasi-identifiers are a group."""
        return "group" if any(group.people for group in self.groups) else None

    @property
    def key_names(self) -> tuple[str, ...]:
        """What the parts of the key of a group are."""
        return self.quasi_identifiers if self.group is None else (self.group, *self.quasi_identifiers)

    def population_columns(self) -> dict[str, list[str]]:
        """Return the population, column by column, with one row per person.

        >>> from sfumato.principles import KMap
        >>> KMap.example().population_columns()
        {'age': ['20-29', '20-29', '20-29', '30-39', '30-39']}
        """
        return {
            name: [key[place] for key, people in self.population for _ in range(people)]
            for place, name in enumerate((*self.quasi_identifiers, self.sensitive)[: len(self.population[0][0])])
        }

    def columns(self) -> dict[str, list[Secret]]:
        """Return the table, column by column, with one row per person.

        >>> from sfumato.principles import KAnonymity
        >>> KAnonymity.example().columns()["age"]
        ['20-29', '20-29', '20-29', '30-39', '30-39']
        """
        rows = [
            (group.key[0], *own) if group.people else own
            for group in self.groups
            for own in group.people or [group.key] * len(group.secrets)
        ]
        columns: dict[str, list[Secret]] = {name: [row[place] for row in rows] for place, name in enumerate(self.key_names)}
        columns[self.sensitive] = [secret for group in self.groups for secret in group.secrets]
        return columns


def two_age_groups(
    principle: Principle,
    sensitive: str,
    young: tuple[tuple[Secret, ...], str, str],
    old: tuple[tuple[Secret, ...], str, str],
) -> Example:
    """Return an example of two groups that differ in age; each is its secrets, what to count, and the arithmetic."""
    groups = (ExampleGroup(("20-29",), *young), ExampleGroup(("30-39",), *old))
    return Example(principle, ("age",), sensitive, groups)

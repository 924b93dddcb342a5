"""The sensitive attributes that the requirements of a release are about: what a method may reveal by its decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Glaze, Task
from sfumato.anonymization.methods.search_constraints import LimitArrays, SearchConstraints
from sfumato.anonymization.recoding_choice import open_recodings
from sfumato.anonymization.unit_task import UnitTask
from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import NotMeasured
from sfumato.errors import SfumatoError
from sfumato.principles import HistogramCondition, NeighbourLimit

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ConstrainedSecret:
    """A sensitive attribute, or several that are taken as one, with what the principles require of it in each group."""

    names: tuple[str, ...]
    codes: Integers
    """For each person, in the order of the task's table, the number of the value."""
    width: int
    """The number of values."""
    constraints: SearchConstraints
    promised: float | None
    """The largest share of a group that the requirements allow a value to have, if they state one."""

    @property
    def name(self) -> str:
        """The attribute for display."""
        return " + ".join(self.names)


def search_task(release: AttackedRelease) -> Task:
    """Return the task of the method that made a release, as far as an attacker can know it: groups are searched for in it.

    Its table has the people who are published, one row each: methods move all rows of a person together.
    """
    original = release.original
    assert original is not None
    try:
        table = open_recodings(original, Glaze())[1]
        if original.units is None:
            return Task(table, release.principles)
        task = UnitTask.of(table, release.principles)
        vary = [" + ".join(names) for _, names in task.requirements if task.values_vary(names)]
    except SfumatoError as error:
        raise NotMeasured(f"the search of the method cannot be repeated: {error.problem}") from error
    if vary:
        raise NotMeasured(f"{vary[0]} varies within {original.units.plural}, and the attack guesses one value of each")
    return task


def groups_of_people(release: AttackedRelease) -> Integers:
    """Return the group of each row of the search task's table."""
    assert release.original is not None
    refuse_split_people(release)
    units = release.original.units
    return release.group_of_person if units is None else np.asarray(release.group_of_person[units.first_rows])


def refuse_split_people(release: AttackedRelease) -> None:
    """Raise `NotMeasured` if people have rows in several groups: methods keep them together."""
    if release.several_rows is not None and not release.people_are_in_one_group:
        # a folder without its key; the rows of another tool's table are in the order of the original
        guessed = release.file is not None and not release.rows_are_known
        hint = ", as far as is known without the key" if guessed else ""
        raise NotMeasured(
            f"the rows of some {release.several_rows} are in several groups{hint}, and methods keep them together"
        )


def constrained_secrets(release: AttackedRelease, task: Task) -> list[ConstrainedSecret]:
    """Return the attributes that requirements constrain; none is a reason not to attack.

    Requirements that no local search can satisfy step by step are left out.
    """
    if not release.principles:
        raise NotMeasured("it is not known what was required of the groups")
    found = []
    requirements = [(p, names) for p, names in task.requirements if names and p.searchable]
    try:
        for names in dict.fromkeys(names for _, names in requirements):
            own = [principle for principle, others in requirements if others == names]
            conditions = [one for principle in own for one in task.search_conditions(principle, names)]
            limits = tuple(LimitArrays.of(one, False) for one in conditions if isinstance(one, NeighbourLimit))
            histograms = tuple(one for one in conditions if isinstance(one, HistogramCondition))
            if limits or histograms:
                attribute = task.views[names].attribute
                _check_published(release, names)
                shares = [share for principle in own if (share := _promised_share(principle.name, principle)) is not None]
                constraints = SearchConstraints(1, limits, histograms)
                found.append(
                    ConstrainedSecret(names, attribute.codes, len(attribute), constraints, min(shares, default=None))
                )
    except SfumatoError as error:
        raise NotMeasured(f"the requirements cannot be evaluated on the original: {error.problem}") from error
    if not found:
        raise NotMeasured("no requirement that a search satisfies step by step is about a sensitive attribute")
    return found


def _promised_share(name: str, principle: object) -> float | None:
    """Return the largest share of a group that a principle allows any value to have, if it is stated as such."""
    if name == "frequency-l-diversity":
        return 1 / float(principle.l)  # type: ignore[attr-defined]
    if name == "alpha-k-anonymity":
        return float(principle.alpha)  # type: ignore[attr-defined]
    return None


def _check_published(release: AttackedRelease, names: tuple[str, ...]) -> None:
    """Refuse a release in which the people of a group do not have the published values of the group."""
    people = release.original
    assert people is not None
    tables = (release.published, release.groups.of_row), (people, release.group_of_person)
    counts = []
    for table, of_row in tables:
        columns = [column for name in names for column in table.schema.components(name)]
        attribute = table.attribute(columns)
        pairs, often = np.unique(of_row * len(attribute) + attribute.codes, return_counts=True)
        group, value = np.divmod(pairs, len(attribute))
        labels = [str(attribute.value(v)) for v in range(len(attribute))]
        counts.append((len(attribute), sorted(zip(group.tolist(), [labels[v] for v in value], often.tolist(), strict=True))))
    if counts[0] != counts[1]:
        raise NotMeasured(f"the published values of {' + '.join(names)} are not those of the people in each group")

"""Attack a release: run several attacks, and collect what each achieves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.anatomy.anatomy_release import Anatomy
from sfumato.anonymization.release import Release
from sfumato.attacks.attacked_anatomy import EXACT
from sfumato.attacks.attacked_release import SAMPLE, AttackedRelease
from sfumato.attacks.attacked_sources import attacked_release
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.earlier_releases import earlier_releases
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.parameters import ParameterChecks
from sfumato.principles import Principle, PrincipleRequest, requested_principles
from sfumato.progress import Progress, silent
from sfumato.registry import ATTACKS


@dataclass(frozen=True)
class Skipped:
    """An attack that could not be measured, and why.

    >>> Skipped("homogeneity", "the table has no sensitive attribute")
    homogeneity: not measured, because the table has no sensitive attribute
    """

    attack: str
    reason: str

    def __repr__(self) -> str:
        return f"{self.attack}: not measured, because {self.reason}"


@dataclass(frozen=True, repr=False)
class Attacks:
    """What attackers achieve against a release. Made by `sf.attack`.

    The figures depend on the original, so they must not be published.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> release = sf.anonymize(pa.table({"age": [30, 31]}), sf.Schema(["age"]), sf.KAnonymity(2))
    >>> sf.attack(release, attacks=["homogeneity"])
    homogeneity: not measured, because the table has no sensitive attribute
    """

    results: tuple[AttackResult, ...]
    skipped: tuple[Skipped, ...] = ()
    attacks: tuple[type[Attack], ...] = ()
    """The attacks that were run."""

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[AttackResult]:
        return iter(self.results)

    def __getitem__(self, index: int) -> AttackResult:
        return self.results[index]

    @property
    def exceeding(self) -> tuple[AttackResult, ...]:
        """The attacks that achieve more than their baselines, beyond chance."""
        return tuple(result for result in self.results if result.exceeds)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: each result with what its attacker knows and what it is compared with."""
        about = {kind.name: kind for kind in self.attacks}
        return {
            "attacks": [
                {
                    **result.to_dict(),
                    "summary": about[result.attack].summary(),
                    "assumptions": about[result.attack].assumptions(),
                    "comparison": about[result.attack].comparison(),
                }
                for result in self.results
            ],
            "not_measured": [{"attack": one.attack, "reason": one.reason} for one in self.skipped],
        }

    def to_json(self) -> str:
        """Return the results as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        lines = [repr(result) for result in (*self.results, *self.skipped)]
        return "\n".join(lines) or "no attack"


def attack(
    release: Any,
    original: Any = None,
    *,
    attacks: Sequence[Attack | str] | None = None,
    schema: Schema | None = None,
    principles: PrincipleRequest | Sequence[PrincipleRequest] = (),
    key: str | Path | None = None,
    earlier: Sequence[Any] = (),
    sample: int = SAMPLE,
    progress: Progress = silent,
) -> Attacks:
    """Attack a release, and count how often the attackers are right.

    `release`: a `Release`, an `Anatomy`, the folder of one, or the table that another tool published: a frame, a CSV or a
    Parquet file, with a `schema` of its columns, in the order of the original. `original`: a path, a frame or a Table; a
    `Release` and an `Anatomy` know theirs. Without it, only the attacks that need none are run, and the others are listed as
    not measured. `attacks`: names of `sfumato.registry.ATTACKS`, or attacks with parameters; by default all. `principles`:
    those of another tool's table. `key`: the private file that was written with the folder, which says whose row each row
    is; without it people are matched with rows, which takes time in large tables. `earlier`: earlier releases about people
    of the same original, for attacks that combine several: a `Release`, a folder, a table of another tool, or a pair of one
    of them and its key. `sample`: at most this many people are attacked.

    The success of an attack says nothing by itself: compare it with its baselines, which say what can be guessed without
    the release or by counting in groups alone. See the attacks' descriptions for what each assumes.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> result = attack(release, attacks=["homogeneity"])[0]
    >>> result.success.share, result.certain, result.right
    (0.75, 2, 2)
    """
    chosen = [_attack_of(one) for one in (tuple(ATTACKS) if attacks is None else _listed(attacks))]
    _check_sample(sample)
    progress("reading")
    requested = requested_principles(principles) if principles else ()
    attacked = attacked_release(release, original, schema=schema, principles=requested, key=key, sample=sample)
    if earlier:
        source = release.private.original if original is None and isinstance(release, Release) else original
        attacked = replace(attacked, earlier=earlier_releases(_listed(earlier), attacked, source, schema))
    return run_attacks(chosen, attacked, progress)


def public_attacks(
    published: Table, groups: Groups, schema: Schema, recodings: Mapping[str, str], principles: Sequence[Principle]
) -> list[dict[str, Any]]:
    """Return what the attacks that need no original achieve against a published table: for its public report.

    The figures follow from the published table alone, so they reveal nothing that the table does not. Attacks that may take
    longer than the release itself are left out. Attacks of plug-ins
    are left out, because whoever verifies the report may not have them. `schema`: that of the original. `recodings`: how
    each quasi-identifier is published.
    """
    attacked = AttackedRelease(published, groups, schema, recodings, tuple(principles))
    kinds: list[type[Attack]] = [ATTACKS[name] for name in ATTACKS.entries]
    attacks = [kind() for kind in kinds if not kind.needs_original]
    found = run_attacks([one for one in attacks if one.is_fast(attacked)], attacked)
    return [{key: value for key, value in row.items() if key != "figures"} for row in found.to_dict()["attacks"]]


def run_attacks(chosen: Sequence[Attack], attacked: AttackedRelease, progress: Progress = silent) -> Attacks:
    """Run attacks on a release; those that cannot be measured on it are listed with the reason."""
    results: list[AttackResult] = []
    skipped: list[Skipped] = []
    for number, one in enumerate(chosen):
        progress("measuring attacks", number / len(chosen))
        reason = _obstacle(one, attacked)
        if reason is not None:
            skipped.append(Skipped(one.name, reason))
            continue
        try:
            results += one.run(attacked)
        except NotMeasured as found:
            skipped.append(Skipped(one.name, str(found)))
    return Attacks(tuple(results), tuple(skipped), tuple(type(one) for one in chosen))


def _obstacle(one: Attack, release: AttackedRelease) -> str | None:
    if one.needs_cells and release.exact:
        return EXACT
    if one.needs_original and release.original is None:
        return "the original was not given"
    if one.needs_secret and not release.secrets:
        return "the table has no sensitive attribute"
    if release.several_rows is not None and not one.counts_rows:
        if not one.counts_people:
            return f"{release.several_rows} have several rows, and this attack takes each row for another person"
        if release.population is None:
            return f"{release.several_rows} have several rows, and only the original says whose row each row is"
    return None


def _attack_of(one: Attack | str) -> Attack:
    if isinstance(one, Attack):
        return one
    if isinstance(one, type) and issubclass(one, Attack):
        return one()
    found: type[Attack] = ATTACKS.find(one, key="attacks")
    return found()


def _listed(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, str | Path | Release | Anatomy | ParameterChecks) else tuple(values)


def _check_sample(sample: int) -> None:
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise ParameterError(
            f"invalid sample {sample!r}",
            remedy="Write how many people are attacked, at least 1.",
            key="sample",
            value=sample,
        )

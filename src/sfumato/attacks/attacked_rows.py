"""Whose secrets are guessed: people of the original, or published rows where the original is not known."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.attacks.attacked_release import AttackedRelease, Integers, Secret, sampled


@dataclass(frozen=True, eq=False)
class AttackedRows:
    """The people who are attacked, for attacks that guess the same for everybody in a group.

    How often such a guess is right follows from the published rows alone, because each of them is somebody's. So these
    attacks need no original.
    """

    group: Integers
    """For each of them the group."""
    truth: Integers
    """For each of them the secret, −1 if it is not published at all."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, release: AttackedRelease, secret: Secret) -> AttackedRows:
        """Return the targets of a release; without its original, its published rows or a random sample of them."""
        if secret.truth is not None:
            targets = release.targets
            return cls(release.group_of_person[targets], secret.truth[targets], release.sample_notes)
        count, sample = release.published.rows, release.sample
        note = "published rows are counted, because each of them is somebody's"
        if count <= sample:
            return cls(release.groups.of_row, secret.attribute.codes, (*release.notes, note))
        rows = sampled(count, sample)
        notes = (*release.notes, f"{note}, a random sample of {sample:,} of {count:,}")
        return cls(release.groups.of_row[rows], secret.attribute.codes[rows], notes)

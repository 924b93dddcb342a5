"""A plan: which sensitive attributes are published together, in how many projected tables (paper 004, Definition 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sfumato.errors import ColumnError, ParameterError


@dataclass(frozen=True)
class Plan:
    """Disjoint blocks of sensitive attributes that together hold each of them once; every block becomes a table.

    Made by `Plan.of`, which checks it. Attributes stand in the order in which they were declared, blocks in that of
    their first attribute, so that two plans are equal if they publish the same.

    >>> plan = Plan.of([["income"], ["job", "diagnosis"]], ["diagnosis", "job", "income"])
    >>> plan.blocks, plan.label
    ((('diagnosis', 'job'), ('income',)), 'diagnosis + job | income')
    >>> Plan.apart(["diagnosis", "job", "income"]).merged(0, 2).label
    'diagnosis + income | job'
    """

    blocks: tuple[tuple[str, ...], ...]
    attributes: tuple[str, ...]
    """All attributes, in the order in which they were declared."""

    @classmethod
    def of(cls, blocks: Iterable[Iterable[str]], attributes: Sequence[str]) -> Plan:
        """A plan of these blocks over these attributes; each must be in exactly one block."""
        given = [(block,) if isinstance(block, str) else tuple(block) for block in blocks]
        place = {name: position for position, name in enumerate(attributes)}
        seen: set[str] = set()
        for block in given:
            if not block:
                raise ParameterError("a block of the plan is empty", remedy="Drop it, or name its attributes.", key="plan")
            for name in block:
                if name not in place:
                    raise unknown_attribute(
                        name, attributes, "the plan names what is not one of the sensitive attributes", "plan"
                    )
                if name in seen:
                    raise ColumnError(
                        "the plan names the attribute twice", remedy="Put it into one table only.", key="plan", column=name
                    )
                seen.add(name)
        left = [name for name in attributes if name not in seen]
        if left:
            raise ColumnError(
                f"the plan leaves out {', '.join(map(repr, left))}",
                remedy="Put every sensitive attribute into one of the tables; one alone may have a table of its own.",
                key="plan",
                column=left[0],
            )
        ordered = sorted((tuple(sorted(block, key=place.__getitem__)) for block in given), key=lambda b: place[b[0]])
        return cls(tuple(ordered), tuple(attributes))

    @classmethod
    def whole(cls, attributes: Sequence[str]) -> Plan:
        """All attributes in one table: nothing is lost, and each may betray the others."""
        return cls((tuple(attributes),), tuple(attributes))

    @classmethod
    def apart(cls, attributes: Sequence[str]) -> Plan:
        """Each attribute in a table of its own: every association is lost, and none can be used."""
        return cls(tuple((name,) for name in attributes), tuple(attributes))

    def merged(self, u: int, w: int) -> Plan:
        """The plan in which the blocks at two positions are one."""
        first, second = sorted((u, w))
        blocks = list(self.blocks)
        blocks[first] = self.union(u, w)
        del blocks[second]  # the union begins where the earlier block began, so the order of blocks stays
        return Plan(tuple(blocks), self.attributes)

    def union(self, u: int, w: int) -> tuple[str, ...]:
        """The block that two blocks would be together."""
        members = {*self.blocks[u], *self.blocks[w]}
        return tuple(name for name in self.attributes if name in members)

    @property
    def label(self) -> str:
        """The plan on one line: "diagnosis + job | income"."""
        return " | ".join(map(label_of, self.blocks))

    @property
    def of_attribute(self) -> list[int]:
        """For each attribute the position of its block."""
        position = {name: at for at, block in enumerate(self.blocks) for name in block}
        return [position[name] for name in self.attributes]

    def __len__(self) -> int:
        return len(self.blocks)

    def __str__(self) -> str:
        return self.label


def label_of(block: Sequence[str]) -> str:
    """A block on one line.

    >>> label_of(["diagnosis", "job"])
    'diagnosis + job'
    """
    return " + ".join(block)


def unknown_attribute(name: str, known: Sequence[str], problem: str, key: str | None = None) -> ColumnError:
    """The error for what is not one of the attributes, with those that it may be meant to be."""
    close = get_close_matches(str(name), known, n=3, cutoff=0.6)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"They are: {', '.join(map(repr, known))}."
    return ColumnError(problem, remedy=hint, key=key, column=str(name))

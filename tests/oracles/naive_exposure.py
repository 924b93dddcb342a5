"""What a published table exposes beyond its principles, straight from the definitions: row against row."""

from __future__ import annotations

from fractions import Fraction


def singled_out(rows):
    """The number of rows that no other row equals."""
    return sum(all(row != other for j, other in enumerate(rows) if j != i) for i, row in enumerate(rows))


def groups_of(numbers):
    """For each group its rows."""
    return [[i for i, number in enumerate(numbers) if number == group] for group in sorted(set(numbers))]


def most_frequent_share(values):
    """The share of the most frequent value."""
    return Fraction(max(values.count(value) for value in values), len(values))


def constant(numbers, values, share=Fraction(1)):
    """The number of groups in which some value has at least a share of the rows, and their rows; by default all rows."""
    found = [rows for rows in groups_of(numbers) if most_frequent_share([values[i] for i in rows]) >= share]
    return len(found), sum(map(len, found))


def cell_values(cell, domain):
    """The values of a domain that a published cell stands for: `*`, `[lo, hi]` of whole numbers, `{a; b}`, or a value."""
    if cell == "*":
        return set(domain)
    if cell and cell[0] == "[":
        low, high = map(int, cell[1:-1].split(", "))
        return {value for value in domain if value is not None and low <= value <= high}
    if cell and cell[0] == "{":
        return set(cell[1:-1].split("; "))
    return {value for value in domain if ("" if value is None else str(value)) == (cell or "")}


def possible_values(secret, secrets, publics, ordered):
    """The values of a quasi-identifier that are possible with a secret; none if the secret says nothing about them."""
    mine = [public for other, public in zip(secrets, publics, strict=True) if other == secret]
    known = sorted(public for public in mine if public is not None) if ordered else []
    if known:
        # drop 0.5 % of the rows of the secret at each end, values in whole
        low = next((v for v in known if 200 * sum(w <= v for w in known) > len(mine)), None)
        high = next((v for v in reversed(known) if 200 * sum(w >= v for w in known) > len(mine)), None)
        found = {value for value in publics if value is not None and low <= value <= high} | ({None} & set(mine))
        needed = 5 * min(len(found), 2)
    else:
        rare = {value for value in mine if 100 * mine.count(value) <= len(mine)}
        found = set(mine) - rare if 100 * sum(value in rare for value in mine) <= len(mine) else set(mine)
        needed = 5 * len(found)
    exceptions = sum(value not in found for value in mine)
    impossible = Fraction(sum(value not in found for value in publics), len(publics))
    expected = impossible * len(mine)
    tells = len(mine) >= needed and impossible >= Fraction(1, 4) and expected >= 10 * max(1, exceptions)
    return found if tells else set()


def narrowed(published, secrets, publics, ordered):
    """Count rows of (secret, cell) narrowed to one value, to half the values or fewer, and those with several values.

    `secrets`, `publics`: the original columns.
    """
    one = half = recoded = 0
    for secret, cell in published:
        values = cell_values(cell, set(publics))
        if len(values) > 1:
            left = values & possible_values(secret, secrets, publics, ordered)
            recoded += 1
            one += len(left) == 1
            half += 0 < 2 * len(left) <= len(values)
    return one, half, recoded

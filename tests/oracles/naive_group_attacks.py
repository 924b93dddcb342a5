"""Oracles of attacks on tables in groups: person by person, with dictionaries, exact fractions and plain loops.

Groups and secrets are lists over people.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import exp, log


def members(groups):
    found = defaultdict(list)
    for person, group in enumerate(groups):
        found[group].append(person)
    return found


def lifts(groups, secrets):
    """Return for each group {value: share of the group over share of the table}."""
    table = Counter(secrets)
    return {
        group: {
            value: Fraction(count, len(people)) / Fraction(table[value], len(secrets))
            for value, count in Counter(secrets[i] for i in people).items()
        }
        for group, people in members(groups).items()
    }


def skewness(groups, secrets, order):
    """Return right bets, their chance by the table, the largest and mean lift, risen people, people of uniform groups."""
    table, lift = Counter(secrets), lifts(groups, secrets)
    own = {group: Counter(secrets[i] for i in people) for group, people in members(groups).items()}
    right = risen = alone = 0
    chances, own_lifts = [], []
    for group, secret in zip(groups, secrets, strict=True):
        bet = max(own[group], key=lambda v, g=group: (lift[g][v], own[g][v], -order(v)))
        right += bet == secret
        chances.append(Fraction(table[bet], len(secrets)))
        own_lifts.append(lift[group][secret])
        share = Fraction(own[group][secret], sum(own[group].values()))
        risen += share > Fraction(1, 2) and Fraction(table[secret], len(secrets)) < Fraction(1, 10)
        alone += len(own[group]) == 1
    count = len(secrets)
    largest = max(value for each in lift.values() for value in each.values())
    return right, sum(chances) / count, largest, sum(own_lifts) / count, risen, alone


def fullest_interval(numbers, epsilon):
    """Return how many numbers are within ε of the best centre, which is any number; missing ones are near one another."""
    present = [number for number in numbers if number is not None]
    # moving a centre changes nothing until a number is exactly ε away
    centres = [number + sign * epsilon for number in present for sign in (-1, 1)]
    most = max((sum(abs(number - centre) <= epsilon for number in present) for centre in centres), default=0)
    return max(most, len(numbers) - len(present))


def fullest_star(values, distance, epsilon):
    """Return how many values are within ε of the best of them."""
    return max(sum(distance(value, centre) <= epsilon for value in values) for centre in values)


def scaled(weights, wanted, steps, tolerance):
    """Scale {person: {value: weight}} by turns so that values sum to what is wanted, and those of a person to 1."""
    for person, own in weights.items():
        total = sum(own.values())
        weights[person] = {value: weight / total for value, weight in own.items()}
    for _ in range(steps):
        sums = {value: sum(own[value] for own in weights.values()) for value in wanted}
        for person, own in weights.items():
            fitted = {value: weight * wanted[value] / sums[value] for value, weight in own.items()}
            total = sum(fitted.values())
            weights[person] = {value: weight / total for value, weight in fitted.items()}
        if max(abs(sums[value] - wanted[value]) for value in wanted) <= tolerance:
            break
    return weights


def learned(groups, secrets, features, rounds, smoothing, steps=20, tolerance=1e-6):
    """Return {person: {value: belief}} of a naive Bayes classifier that is learned from the groups; None as it is."""
    beliefs = {}
    for people in members(groups).values():
        counts = Counter(secrets[i] for i in people)
        for i in people:
            beliefs[i] = {value: count / len(people) for value, count in counts.items()}
    names = range(len(features[0]))
    # missing values have a place of their own, whether or not they occur
    domain = [len({row[f] for row in features} - {None}) + 1 for f in names]
    shares = [{x: n / len(features) for x, n in Counter(row[f] for row in features).items()} for f in names]
    for _ in range(rounds):
        together, alone = defaultdict(float), defaultdict(float)
        for i, own in beliefs.items():
            for value, belief in own.items():
                alone[value] += belief
                for f in names:
                    together[f, features[i][f], value] += belief
        for people in members(groups).values():
            counts = Counter(secrets[i] for i in people)
            weights = {
                i: {
                    value: sum(
                        log(
                            (together[f, features[i][f], value] + smoothing * domain[f] * shares[f][features[i][f]])
                            / (alone[value] + smoothing * domain[f])
                        )
                        for f in names
                    )
                    for value in counts
                }
                for i in people
            }
            weights = {i: {value: exp(one - max(own.values())) for value, one in own.items()} for i, own in weights.items()}
            beliefs.update(scaled(weights, counts, steps, tolerance))
    return beliefs


def composed(releases, rounds):
    """Return {person: {value: belief}} for releases [{person: group}, {group: Counter of values}]."""
    everybody = {person for placed, _ in releases for person in placed}
    beliefs = {}
    for person in everybody:
        known = [set(values[placed[person]]) for placed, values in releases if person in placed]
        beliefs[person] = dict.fromkeys(set.intersection(*known), 1.0)
    while rule_out(releases, beliefs):
        pass
    for _ in range(rounds):
        for placed, values in releases:
            sums = defaultdict(float)
            for person, group in placed.items():
                for value, belief in beliefs[person].items():
                    sums[group, value] += belief
            for person, group in placed.items():
                for value in beliefs[person]:
                    beliefs[person][value] *= values[group][value] / sums[group, value]
            for person, own in beliefs.items():
                total = sum(own.values())
                beliefs[person] = {value: belief / total for value, belief in own.items()}
    return beliefs


def rule_out(releases, beliefs):
    """Remove one pair of a person and a value that counting rules out; return whether there was one."""
    for placed, values in releases:
        for group, counts in values.items():
            inside = [person for person, own in placed.items() if own == group]
            for value, count in counts.items():
                possible = [person for person in inside if value in beliefs[person]]
                only = [person for person in possible if len(beliefs[person]) == 1]
                if len(only) == count:
                    spare = [(person, value) for person in possible if person not in only]
                else:
                    spare = [
                        (p, other) for p in possible for other in beliefs[p] if other != value and len(possible) == count
                    ]
                if spare:
                    person, other = spare[0]
                    del beliefs[person][other]
                    return True
    return False


def occurrence(groups, values, claims, covered):
    """Return for each claim (group, set of values) whether it is right, and its chances by the table and by equal values.

    `covered`: for each group the set of values that its cell covers.
    """
    table, found = Counter(values), []
    for group, claimed in claims:
        inside = members(groups)[group]
        cell = [value for value in table if value in covered[group]]
        total = sum(table[value] for value in cell)
        share = Fraction(sum(table[value] for value in claimed), total) if total else Fraction(0)
        evenly = Fraction(sum(value in table for value in claimed), len(cell)) if cell else Fraction(0)
        found.append(
            (
                any(values[i] in claimed for i in inside),
                1 - (1 - share) ** len(inside),
                1 - (1 - evenly) ** len(inside),
            )
        )
    return found

"""Shapes of a breach by definition: the largest set of rows of each shape, by trying every set of rows.

A group is a list of values. `near(v, w)` says whether two values are within ε. Each function returns a number of rows.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product


def _largest(group, is_of_shape):
    """The rows of the largest set, given by places in the group, that has a shape; a single row always has it."""
    for size in range(len(group), 1, -1):
        if any(is_of_shape(places) for places in combinations(range(len(group)), size)):
            return size
    return 1


def star(group, near):
    return max(sum(near(v, w) for w in group) for v in group)


def clique(group, near):
    return _largest(group, lambda places: all(near(group[i], group[j]) for i, j in combinations(places, 2)))


def connected(group, places, near):
    reached, todo = {places[0]}, [places[0]]
    while todo:
        one = todo.pop()
        found = [other for other in places if other not in reached and near(group[one], group[other])]
        reached.update(found)
        todo += found
    return len(reached) == len(places)


def chain(group, near):
    return _largest(group, lambda places: connected(group, places, near))


def cycle(group, near):
    """Rows that are connected, and still are whichever one of them is removed."""

    def holds_together(places):
        return connected(group, places, near) and all(
            len(places) == 2 or connected(group, [p for p in places if p != gone], near) for gone in places
        )

    return _largest(group, holds_together)


def longest_cycle(group, near):
    """The rows of the longest closed sequence of at least three different rows, each near the next; 0 if there is none."""
    for size in range(len(group), 2, -1):
        for first, *others in combinations(range(len(group)), size):
            for order in permutations(others):
                ring = [first, *order]
                if all(near(group[a], group[b]) for a, b in zip(ring, [*order, first], strict=True)):
                    return size
    return 0


def ball(group, near, centres):
    """The fullest ball around one of some centres."""
    return max(sum(near(centre, v) for v in group) for centre in centres)


def ball_of_numbers(group, epsilon):
    """If an interval contains some numbers, the one around the middle of the least and the greatest does."""
    centres = {Fraction(x + y) / 2 for x in group for y in group}
    return ball(group, lambda c, v: abs(c - v) <= epsilon, centres)


def ball_of_points(group, radius, wide):
    """The fullest ball of points of two numbers: the box may be moved until its left and lower side touch points.

    `wide(point)`: the point in coordinates in which balls are boxes whose sides are along the axes.
    """
    points = [wide(point) for point in group]
    centres = product(*({p[j] + radius for p in points} for j in (0, 1)))
    return ball(points, lambda c, p: max(abs(c[0] - p[0]), abs(c[1] - p[1])) <= radius, list(centres))


def worst_choice(people, level):
    """The largest level over every choice of one value per person."""
    return max(level(list(choice)) for choice in product(*people))

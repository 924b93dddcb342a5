"""Who has which secret, as far as swaps that were not made say: belief propagation over groups and swaps.

People are variables. A group is a factor: its people have its secrets, each as often as it is published. A swap that was not
made is a factor of two people: pairs of secrets that would have broken the requirement are likely, others are not.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

from sfumato.kernels.compile import borrowing_kernel, subroutine

STATES = 4096
"""The deals of a group are counted exactly if its secrets have at most this many sub-multisets; otherwise its beliefs are
scaled."""

_FLOOR = -40.0
"""Evidence against a secret counts at most this much, as a logarithm."""

_SCALINGS = 30
"""How often the beliefs of a large group are scaled by its people and by its secrets."""

_SMALLEST = 1e-300
"""What keeps a division defined."""


@subroutine
def _states(secrets: Any, count: Any, first: Any, most: Any) -> Any:
    """Return the number of sub-multisets of a group's secrets; a number above `most` if there are more."""
    states = 1
    for u in range(first, first + secrets):
        if states <= most:
            states *= count[u] + 1
    return states


@subroutine
def _deal(
    secrets: Any, count: Any, first: Any, states: Any, weight: Any, at: Any, belief: Any, forward: Any, backward: Any,
    digit: Any,
) -> None:  # fmt: skip
    """Fill the beliefs of a group with the shares of all deals in which a person has a secret, each deal by its weight.

    The weight of a deal is the product of `weight[at + i * secrets + u]` over the persons i with their secrets u. A state is
    a sub-multiset of the secrets, as a number of mixed radix: what the first persons have, as many as it has elements. Cost:
    states times secrets.
    """
    # forward: the weight of all deals of a state to the first persons; without one of its secrets, a state is smaller
    for u in range(secrets):
        digit[u] = 0
    forward[0], taken = 1.0, 0
    for state in range(1, states):
        u = 0
        while digit[u] == count[first + u]:
            taken -= digit[u]
            digit[u] = 0
            u += 1
        digit[u] += 1
        taken += 1
        total, stride, k = 0.0, 1, at + (taken - 1) * secrets
        for u in range(secrets):
            if digit[u] > 0:
                total += forward[state - stride] * weight[k + u]
            stride *= count[first + u] + 1
        forward[state] = total
    # backward: the weight of all deals of the other secrets to the other persons, and the beliefs on the way
    backward[states - 1] = 1.0
    whole = max(forward[states - 1], _SMALLEST)
    for state in range(states - 2, -1, -1):
        u = 0
        while digit[u] == 0:
            digit[u] = count[first + u]
            taken += digit[u]
            u += 1
        digit[u] -= 1
        taken -= 1
        total, stride, k = 0.0, 1, at + taken * secrets
        for u in range(secrets):
            if digit[u] < count[first + u]:
                part = weight[k + u] * backward[state + stride]
                belief[k + u] += forward[state] * part / whole
                total += part
            stride *= count[first + u] + 1
        backward[state] = total


@subroutine
def _scale(people: Any, secrets: Any, count: Any, first: Any, at: Any, belief: Any) -> None:
    """Scale the beliefs of a group until each person has one secret and each secret its number of persons.

    By Sinkhorn (1964). Underestimates what evidence about one person says of the others, the less the larger the group is.
    """
    for _ in range(_SCALINGS):
        for u in range(secrets):
            total = 0.0
            for i in range(people):
                total += belief[at + i * secrets + u]
            factor = count[first + u] / max(total, _SMALLEST)
            for i in range(people):
                belief[at + i * secrets + u] *= factor
        for i in range(people):
            total = 0.0
            for u in range(secrets):
                total += belief[at + i * secrets + u]
            for u in range(secrets):
                belief[at + i * secrets + u] /= max(total, _SMALLEST)


@borrowing_kernel
def group_beliefs(
    first: Any, count: Any, size: Any, at: Any, evidence: Any, weight: Any, belief: Any, forward: Any, backward: Any,
    digit: Any,
) -> None:  # fmt: skip
    """Fill the beliefs about the people of each group from the evidence on each of them.

    Entries `first[g]` to `first[g + 1]` of `count` are how often each secret of group g occurs, and `size[g]` is their sum.
    The beliefs about its people begin at `at[g]`, person by person, each with the secrets in order. `evidence` holds
    logarithms. `weight` is scratch of the same length. `forward` and `backward` are scratch: groups with more sub-multisets
    of secrets than their length are scaled. `digit` is scratch, one entry for each secret of a group.
    """
    for g in range(len(size)):
        secrets, start = first[g + 1] - first[g], at[g]
        known = False  # whether anything is known about anybody
        for i in range(size[g]):
            k = start + i * secrets
            top = evidence[k]
            for u in range(secrets):
                top = max(top, evidence[k + u])
            for u in range(secrets):
                weight[k + u] = exp(max(_FLOOR, evidence[k + u] - top))
                known = known or evidence[k + u] < top
        states = _states(secrets, count, first[g], len(forward))
        exact = states <= len(forward)
        for i in range(size[g]):
            for u in range(secrets):
                k = start + i * secrets + u
                if known:
                    belief[k] = 0.0 if exact else weight[k]
                else:
                    belief[k] = count[first[g] + u] / size[g]
        if known and exact:
            _deal(secrets, count, first[g], states, weight, start, belief, forward, backward, digit)
        elif known:
            _scale(size[g], secrets, count, first[g], start, belief)


@borrowing_kernel
def pass_messages(
    one: Any, other: Any, ones: Any, others: Any, table: Any, spare: Any, breaks: Any, belief: Any, place: Any, damping: Any,
    message: Any, evidence: Any, cavity: Any, fresh: Any,
) -> None:  # fmt: skip
    """Let each swap tell its two people what the belief about the other one implies; replace the evidence on everybody.

    Swap s is between a person whose beliefs begin at `one[s]`, over `ones[s]` secrets, and another one at `other[s]`, over
    `others[s]`. `breaks[table[s]]` on are the verdicts on each pair of secrets: a swap that would have broken the
    requirement is left undone with likelihood 1, another one with `spare[s]`. `message[place[s]]` on are the logarithms of
    what the swap tells the one person, then the other; `damping` is the weight of the new message. `cavity` and `fresh` are
    scratch, two rows for the largest number of secrets. Cost: the entries of all tables.
    """
    evidence[:] = 0.0
    for s in range(len(one)):
        m, n, k = ones[s], others[s], place[s]
        # what is believed about each person without this swap
        whole_one, whole_other = 0.0, 0.0
        for u in range(m):
            cavity[0, u] = belief[one[s] + u] * exp(-message[k + u])
            whole_one += cavity[0, u]
        for v in range(n):
            cavity[1, v] = belief[other[s] + v] * exp(-message[k + m + v])
            whole_other += cavity[1, v]
            fresh[1, v] = 0.0
        for u in range(m):
            fresh[0, u] = 0.0
            for v in range(n):
                likelihood = 1.0 if breaks[table[s] + u * n + v] else spare[s]
                fresh[0, u] += likelihood * cavity[1, v]
                fresh[1, v] += likelihood * cavity[0, u]
        for u in range(m):
            new = log(max(fresh[0, u] / max(whole_other, _SMALLEST), _SMALLEST))
            message[k + u] += damping * (new - message[k + u])
            evidence[one[s] + u] += message[k + u]
        for v in range(n):
            new = log(max(fresh[1, v] / max(whole_one, _SMALLEST), _SMALLEST))
            message[k + m + v] += damping * (new - message[k + m + v])
            evidence[other[s] + v] += message[k + m + v]

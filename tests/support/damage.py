"""Damaged content: bytes and documents that were valid, with a few random changes, as a fuzzer makes them."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

_TEXTS = ("", "\0", '"', "''", ",", ";", "\t", "\n", "\r", "\r\n", *"*-=[]{}()#", "é", "\u202e", "\x1b[2J", "../")
_TOKENS = [
    *(text.encode() for text in _TEXTS),
    *(b"1e999", b"-1", b"0", b"9" * 40, b"nan", b"true", b"null", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
]
"""What formats take for something special."""

_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from([[], {}, [[]], "*", "[1, 2]", "../x", "1e999", -1, 0, 10**30, 10**400]),
)


@st.composite
def damaged_bytes(draw, originals, tokens=()):
    """One of several contents with one to four spans replaced, removed, repeated or moved; now and then any bytes."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=300))
    content = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 1, 1, 2, 4, 16, 200])))
        span = content[start:end]
        new = draw(
            st.one_of(
                st.sampled_from([*_TOKENS, *tokens]),
                st.binary(min_size=1, max_size=4),
                st.sampled_from([span * 2, span[::-1], span.upper(), content[: end - start]]),
            )
        )
        content = content[:start] + new + content[end:]
    return content


def places_of(document):
    """Return the path of every value within plain data."""
    pending, found = [()], []
    while pending:
        place = pending.pop()
        found.append(place)
        value = value_at(document, place)
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        pending += [(*place, key) for key in keys]
    return found


def value_at(document, place):
    """Return the value at a path within plain data."""
    for key in place:
        document = document[key]
    return document


@st.composite
def damaged_documents(draw, document, places):
    """Plain data with one value replaced, removed, repeated, or with a key that is not known; and where."""
    place = draw(st.sampled_from(places))
    result = copy.deepcopy(document)
    parent, key = value_at(result, place[:-1]), place[-1]
    action = draw(st.sampled_from(["replace", "replace", "replace", "remove", "add", "change"]))
    if action == "remove":
        del parent[key]
    elif action == "add" and isinstance(parent, dict):
        parent[f"{key}-more"] = draw(_VALUES)
    elif action == "add":
        parent.insert(key, copy.deepcopy(parent[key]))
    elif action == "change" and isinstance(parent[key], int | float) and not isinstance(parent[key], bool):
        parent[key] += draw(st.sampled_from([-1, 1, 0.5]))
    elif action == "change" and isinstance(parent[key], str):
        parent[key] += draw(st.sampled_from([" ", "x", "\x00", "0"]))
    else:
        parent[key] = draw(_VALUES)
    return result

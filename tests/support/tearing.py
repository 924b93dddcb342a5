"""Content with any part gone or of another type, as Hypothesis chooses it."""

from __future__ import annotations

from hypothesis import strategies as st


def tear(data, content, depth):
    """Take a part out of plain data, at most so deep, or put something else in its place."""
    place, key = content, None
    for _ in range(data.draw(st.integers(1, depth))):
        key = data.draw(st.sampled_from(keys_of(place)))
        if not isinstance(place[key], dict | list) or not place[key]:
            break
        place, key = place[key], None
    if key is None:
        key = data.draw(st.sampled_from(keys_of(place)))
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(st.sampled_from([None, "x", -1, [], {}, [None], {"a": 1}]))


def keys_of(place):
    return list(place) if isinstance(place, dict) else range(len(place))

"""Undo is exact: after any changes, every text comes back byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sfumato.ui import config_history
from sfumato.ui.config_history import ConfigHistory, Step

ACTIONS = st.lists(st.one_of(st.text("ab", max_size=3), st.sampled_from([1, 2, 3])), max_size=30)
"""A text is a change to it; 1 undoes, 2 makes again, 3 goes back to the first step."""


@given(ACTIONS)
def test_it_is_a_list_with_a_position(actions):
    history = ConfigHistory([Step("opened", "start")])
    texts, at = ["start"], 0
    for action in actions:
        before = history.version
        if action == 1:
            history.undo()
            at = max(0, at - 1)
        elif action == 2:
            history.redo()
            at = min(len(texts) - 1, at + 1)
        elif action == 3:
            history.go(0)
            at = 0
        else:
            changed = texts[at] != action
            history.add(Step(f"to {action}", action))
            if changed:
                del texts[at + 1 :]
                texts.append(action)
                at += 1
        assert history.text == texts[at]
        assert [step.text for step in history.steps] == texts
        assert (history.undoable is None) == (at == 0)
        assert (history.redoable is None) == (at == len(texts) - 1)
        assert history.version >= before


def test_a_slider_that_is_dragged_makes_one_step(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(config_history.time, "monotonic", lambda: now[0])
    history = ConfigHistory([Step("opened", "k=1")])
    for k in range(2, 6):
        now[0] += 0.2
        history.add(Step(f"k={k}", f"k={k}", "k"))
    history.add(Step("l=2", "l=2", "l"))
    assert [step.text for step in history.steps] == ["k=1", "k=5", "l=2"]
    history.undo()
    assert history.text == "k=5"
    history.add(Step("k=6", "k=6", "k"))  # after an undo, a change is a step of its own
    assert [step.text for step in history.steps] == ["k=1", "k=5", "k=6"]
    now[0] += 5
    history.add(Step("k=7", "k=7", "k"))
    assert [step.text for step in history.steps] == ["k=1", "k=5", "k=6", "k=7"]


def test_every_change_has_a_version_of_its_own():
    history = ConfigHistory()
    history.start(Step("opened", "a"))
    seen = {history.version}
    for change in (lambda: history.add(Step("b", "b")), history.undo, history.redo, lambda: history.go(0)):
        change()
        assert history.version not in seen
        seen.add(history.version)
    history.go(7)
    history.undo()
    assert history.version in seen

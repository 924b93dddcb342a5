"""The experiment on versions of a table runs, and finds what independent releases reveal."""

from __future__ import annotations

from benchmarks.experiments.republication_tables import run


def test_a_sequence_narrows_nobody_and_independent_releases_do(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    runs = run(400, 2, 0.05, "0.3", 0)["runs"]
    assert [one["narrowed"] for one in runs] == [0, 0]
    assert runs[1]["independent, narrowed"] > 40
    assert runs[1]["verified"]

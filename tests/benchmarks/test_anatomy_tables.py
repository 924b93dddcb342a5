"""The comparison of anatomies with cells of the same groups."""

from __future__ import annotations

from benchmarks.experiments import anatomy_tables


def test_every_method_is_measured(monkeypatch):
    monkeypatch.setattr(anatomy_tables, "data_file", lambda *names: None)
    runs = anatomy_tables.run(300, 2, ["glaze", "mondrian"], seed=0)["runs"]
    assert [(one["table"], one["method"]) for one in runs] == [("census", "glaze"), ("census", "mondrian")]
    for one in runs:
        assert one["groups"] > 1
        assert one["median error, anatomy, %"] >= 0
        assert one["homogeneity, education, %"] >= one["  the most frequent value of the table, %"] > 0


def test_what_is_not_possible_is_stated(monkeypatch):
    monkeypatch.setattr(anatomy_tables, "data_file", lambda *names: None)
    assert "not possible" in anatomy_tables.run(300, 50, ["glaze"], seed=0)["runs"][0]

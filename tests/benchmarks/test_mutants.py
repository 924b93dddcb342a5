"""Mutants of code: each is one change that can be found again; and the list of those that break no promise."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

import pytest

from benchmarks.quality.code_mutants import mutants_of, mutated
from benchmarks.quality.covering_tests import kernel_users
from benchmarks.quality.mutation_testing import ROOT, equivalent

TEXT = '''
"""A module."""
from __future__ import annotations
class Count:
    """Counts."""
    __slots__ = ("total", "more")
    least: int = 2
    share = Range("share", usual=(1, 10))
    def of(self, rows: list[int], most: int = 3) -> int:
        """Count."""
        found = [row for row in rows if 0 < row <= most]
        if not found and self.least:
            raise ValueError(f"fewer than {self.least + 1}")
        self.note("nothing" if not found else "some")
        def inner(x):
            return min(x, 5)
        return sum(map(inner, found)) % 7
    def __repr__(self):
        return str(1 + 1)
'''


def found():
    return list(mutants_of(Path("count.py"), TEXT))


def test_each_mutant_changes_one_line():
    plain = ast.unparse(ast.parse(TEXT)).splitlines()
    texts = [mutated(TEXT, mutant).splitlines() for mutant in found()]
    for lines in texts:
        changed = [line for line in difflib.ndiff(plain, lines) if line[0] in "+-"]
        assert len(changed) == 2
    assert len({"\n".join(lines) for lines in texts}) == len(texts)


def test_what_is_changed_and_what_is_left_alone():
    changes = {(mutant.function, mutant.change) for mutant in found()}
    assert changes == {
        ("Count", "2 → 3"),
        ("Count.of", "3 → 4"),
        ("Count.of", "0 < row <= most → 0 <= row <= most"),
        ("Count.of", "0 → 1"),
        ("Count.of", "not found and self.least → not found or self.least"),
        ("Count.of", "self.note('nothing' if not found else 'some') → nothing"),
        ("Count.of", "min → max"),
        ("Count.of", "5 → 6"),
        ("Count.of", "sum(map(inner, found)) % 7 → sum(map(inner, found)) // 7"),
        ("Count.of", "7 → 8"),
    }


def test_a_number_that_one_more_does_not_change_is_left_alone():
    assert list(mutants_of(Path("a.py"), "most = 1e300\n")) == []


@pytest.mark.parametrize("path", sorted({path for path, *_ in equivalent()}))
def test_mutants_that_break_no_promise_still_exist(path):
    existing = {
        (mutant.function, mutant.code, mutant.change)
        for mutant in mutants_of(Path(path), (ROOT / path).read_text(encoding="utf-8"))
    }
    listed = {tuple(rest): reason for (file, *rest), reason in equivalent().items() if file == path}
    assert listed.keys() <= existing
    assert all(len(reason) > 20 for reason in listed.values())


def test_a_kernel_is_used_through_the_kernels_that_call_it():
    users = kernel_users(["tests/kernels/test_balanced_deals.py"])
    reached = users["src/sfumato/kernels/row_order.py:draw"]
    assert "src/sfumato/kernels/balanced_deals.py:deal_units" in reached
    assert "tests/kernels/test_balanced_deals.py" in reached
    assert "src/sfumato/kernels/row_order.py:tree_order" not in users["src/sfumato/kernels/balanced_deals.py:deal_units"]

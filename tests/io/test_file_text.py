"""The text of a file: where it is in memory, and that nothing of it is lost."""

from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.io.file_text import file_text, in_memory_of_arrow


@pytest.mark.parametrize("content", [b"age\n30\n", b"\r\n\nage\n30\n", "\ufeffåge\n30\n".encode(), b"age\n30"])
def test_text_in_memory_of_arrow_is_the_text(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    text, _, _ = file_text(path, None, None)
    assert in_memory_of_arrow(text).to_pybytes() == bytes(text) == content.strip(b"\r\n\xef\xbb\xbf") + b"\n"


def test_the_text_of_a_file_is_not_copied_for_arrow(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"\nage\n30\n")
    text, _, _ = file_text(path, None, None)
    before = pa.total_allocated_bytes()
    content = in_memory_of_arrow(text)
    assert pa.total_allocated_bytes() == before
    assert content.parent is not None


def test_text_in_memory_of_python_is_copied():
    before = pa.total_allocated_bytes()
    content = in_memory_of_arrow(b"age\n30\n")
    assert content.to_pybytes() == b"age\n30\n"
    assert pa.total_allocated_bytes() > before


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_a_file_that_does_not_state_its_size_is_read_whole():
    text, _, _ = file_text(Path("/proc/self/maps"), None, None)
    assert bytes(text).count(b"\n") > 10

"""One process of a host warms up, while the others wait."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from sfumato.spark.executor import check_versions, package_versions

PROBE = """
    import pickle
    from types import SimpleNamespace
    from sfumato.spark import executor

    slow = "__import__('time').sleep(1), open({log!r}, 'a').write('warm ')"
    work = SimpleNamespace(value=pickle.dumps((print, eval, {variant!r}, slow)))
    for _ in range(2):
        executor.result_of("one", work, pickle.dumps({{}}))
    assert open({log!r}).read(), "the work waits for the warm-up"
"""


def run_at_once(tmp_path, count, variant="v"):
    log = tmp_path / "log"
    code = textwrap.dedent(PROBE).format(log=str(log), variant=variant)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    started = [subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.DEVNULL) for _ in range(count)]
    assert [process.wait() for process in started] == [0] * count
    return log.read_text().split()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_one_process_warms_up_and_the_others_wait(tmp_path):
    assert run_at_once(tmp_path, 3) == ["warm"]
    assert run_at_once(tmp_path, 1) == ["warm"], "later processes find it done"
    assert run_at_once(tmp_path, 1, "another variant") == ["warm", "warm"]


def test_versions_of_this_process_fit_itself():
    versions = package_versions()
    assert versions.keys() == {"numpy", "numba", "llvmlite"}
    check_versions(versions)
    with pytest.raises(ImportError, match="numba has version"):
        check_versions({**versions, "numba": "0"})

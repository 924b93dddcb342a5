"""Profiles of the property tests, the real data where it is there, and a real PostgreSQL.

The default profile keeps the suite short, and the same every time. The thorough one, SFUMATO_PROFILE=thorough, runs
10,000 random cases of every property. SFUMATO_PROFILE=fuzz runs 500 cases, for `pytest -m fuzz`. Tests marked `long` run
by `pytest -m long`, under the thorough profile, and if they are named.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

import sfumato.seeds

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("default", max_examples=60, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=10_000, **_COMMON)
settings.register_profile("fuzz", max_examples=500, derandomize=True, **_COMMON)
settings.register_profile(  # a mutant is killed by any failure, not only by the simplest one
    "mutants", max_examples=60, derandomize=True, phases=[Phase.explicit, Phase.generate], **_COMMON
)
_PROFILE = os.environ.get("SFUMATO_PROFILE", "default")
settings.load_profile(_PROFILE)

_FIRST = ("spark", "benchmarks", "reports", "anonymization")
"""Folders whose files take longest."""


os.environ.pop("COLUMNS", None)  # test processes are given the width of a terminal that they do not have
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for a job in the background; test processes would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests out, unless they are asked for; begin with the longest files, so that none is left at the end."""
    named = any("::" in argument for argument in config.args)
    if _PROFILE in ("default", "mutants") and not config.option.markexpr and not named:
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    items.sort(key=lambda item: item.path.parent.name not in _FIRST)


class _SameBits:
    """Stands in for the module `secrets`: what is drawn is the same whenever a test runs."""

    def __init__(self, name: str) -> None:
        self.name = name

    def randbits(self, bits: int) -> int:
        return random.Random(self.name).getrandbits(bits)


@pytest.fixture(scope="module", autouse=True)
def same_seeds_in_a_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Seeds that nobody names are the same in every run, also where fixtures of a module draw them."""
    sfumato.seeds.secrets = _SameBits(request.node.nodeid)
    yield
    sfumato.seeds.secrets = secrets  # doctests run in the same process, and draw


@pytest.fixture(autouse=True)
def same_seeds(request: pytest.FixtureRequest, same_seeds_in_a_module: None) -> None:
    """Seeds that nobody names are the same in every run of a test."""
    sfumato.seeds.secrets = _SameBits(request.node.nodeid)


@pytest.fixture
def drawn_seeds(same_seeds: None) -> None:
    """Seeds are drawn at random, as outside of tests."""
    sfumato.seeds.secrets = secrets


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real microdata."""
    folder = os.environ.get("SFUMATO_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SFUMATO_DATA does not point at the real microdata")
    return Path(folder)


@pytest.fixture(scope="session")
def postgresql_server() -> str:
    """The URI of a PostgreSQL in which databases may be made and dropped."""
    uri = os.environ.get("SFUMATO_POSTGRESQL")
    if not uri:
        pytest.skip("SFUMATO_POSTGRESQL does not name a PostgreSQL server")
    pytest.importorskip("adbc_driver_postgresql")
    return uri


@pytest.fixture
def postgresql(postgresql_server: str) -> Iterator[str]:
    """The URI of an empty database on a real PostgreSQL server, for one test."""
    from adbc_driver_postgresql import dbapi

    name = f"sfumato_test_{secrets.token_hex(6)}"
    with dbapi.connect(postgresql_server, autocommit=True) as server, server.cursor() as cursor:
        cursor.execute(f"create database {name}")
    yield postgresql_server.rpartition("/")[0] + f"/{name}"
    with dbapi.connect(postgresql_server, autocommit=True) as server, server.cursor() as cursor:
        cursor.execute(f"drop database {name} with (force)")

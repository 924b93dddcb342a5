"""Sessions of this host listen to this host alone, know a secret that no command line shows, and leave no process."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.spark.spark_session import spark_session
from spark_clusters import require_spark

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

LISTEN = "0A"
"""The state of a listening socket in /proc/net/tcp."""


def descendants():
    """The processes that this one started, and theirs."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the name of a program, in parentheses, may contain spaces
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found, todo = set(), [os.getpid()]
    while todo:
        children = {pid for pid, parent in parents.items() if parent == todo[-1]} - found
        todo.pop()
        found |= children
        todo += children
    return found


def address_of(text):
    """The address in /proc/net/tcp: words of 32 bits, each in the order of bytes of the processor."""
    content = bytes.fromhex(text)
    words = [content[at : at + 4] for at in range(0, len(content), 4)]
    address = ipaddress.ip_address(b"".join(word[::-1] if sys.byteorder == "little" else word for word in words))
    return getattr(address, "ipv4_mapped", None) or address


def listening(pids):
    """The addresses at which processes listen."""
    sockets = set()
    for pid in pids:
        for file in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(str(file.readlink()))
            except OSError:
                continue
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and f"socket:[{fields[9]}]" in sockets:
                found.append(address_of(fields[1].partition(":")[0]))
    return found


def test_addresses_are_read_as_the_system_writes_them():
    if sys.byteorder == "little":
        assert str(address_of("0100007F")) == "127.0.0.1"
        assert str(address_of("0000000000000000FFFF00000100007F")) == "127.0.0.1"
        assert not address_of("0" * 32).is_loopback and not address_of("0" * 8).is_loopback


@pytest.mark.parametrize(
    ("master", "configured"),
    [
        pytest.param(None, None, id="no master", marks=pytest.mark.long),
        pytest.param("local-cluster[1,1,1024]", None, id="cluster of this host"),
        pytest.param(None, "local-cluster[1,1,1024]", id="configured cluster of this host", marks=pytest.mark.long),
    ],
)
def test_only_this_host_can_connect(master, configured, monkeypatch, tmp_path):
    require_spark()
    if configured is not None:
        (tmp_path / "spark-defaults.conf").write_text(f"spark.master {configured}\n")
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    before = descendants()
    with spark_session(master, settings={"spark.hadoop.some.password": "hush hush"}) as session:
        context = session.sparkContext
        assert context.master == (configured or master or "local[*]")
        assert context.parallelize(range(4), 2).map(lambda value: value + 1).sum() == 10  # executors run
        pids = descendants() - before
        addresses = listening(pids)
        assert len(addresses) >= 3 and all(address.is_loopback for address in addresses), addresses
        settings = context.getConf()
        assert settings.get("spark.authenticate") == "true" and len(settings.get("spark.authenticate.secret")) == 64
        assert settings.get("spark.hadoop.some.password") == "hush hush"
        for pid in pids:
            shown = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            assert "hush hush" not in shown and settings.get("spark.authenticate.secret") not in shown
    assert "SPARK_LOCAL_IP" not in os.environ
    assert not pids & descendants(), "no process is left"


def test_a_java_process_of_the_user_that_other_hosts_reach_gets_no_cluster(monkeypatch):
    require_spark()
    from pyspark import SparkContext

    from sfumato.spark.java_process import end_java

    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    SparkContext._ensure_initialized()  # what is left of a session that the user stopped
    try:
        with (
            pytest.raises(sf.errors.ClusterError, match=r"would listen to other hosts.*SPARK_LOCAL_IP"),
            spark_session("local-cluster[1,1,1024]"),
        ):
            pass
        assert SparkContext._gateway is not None, "it is left running"
    finally:
        end_java()

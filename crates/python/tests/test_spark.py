"""Joins of two standalone Spark clusters, started from the package of PySpark; executors and partners that are killed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

import pandas
import pytest

import vesica
from vesica import _executors

pyspark = pytest.importorskip("pyspark.sql", reason="PySpark is missing")
if shutil.which("java") is None:
    if os.environ.get("CI"):
        pytest.fail("Java is missing: install a JDK of version 17", pytrace=False)
    pytest.skip("Java is missing", allow_module_level=True)

from vesica import spark  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "spark_two_clusters.py"

# An error on a busy machine that starts JVMs must not be taken for a hang.
PATIENCE = 240


def load_example():
    spec = importlib.util.spec_from_file_location("spark_two_clusters", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["spark_two_clusters"] = module
    spec.loader.exec_module(module)
    return module


example = load_example()


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    started = []
    try:
        for role in ("receiver", "sender"):
            started.append(example.Cluster(folder / role))
        yield started
    finally:
        for cluster in started:
            cluster.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_both(clusters, folder, rows, **settings):
    settings = example.reach(folder, free_port(), **settings)
    pairs = zip(("receiver", "sender"), clusters, settings)
    return [example.start(role, cluster, folder, rows, each) for role, cluster, each in pairs]


def wait_for(log, pattern, processes):
    """Waits for a line in a log."""
    end = time.monotonic() + PATIENCE
    while not re.search(pattern, log.read_text()):
        assert time.monotonic() < end, f"no {pattern} in {log.read_text()}"
        for process in processes:
            assert process.poll() is None, log.read_text()
        time.sleep(0.05)


def test_a_join_is_right_though_executors_are_killed(clusters, tmp_path):
    rows = 20_000
    receiver, sender = start_both(clusters, tmp_path, rows, buckets=10)
    log = tmp_path / "receiver.log"
    wait_for(log, r"2 of 10 buckets are done", [receiver, sender])
    for cluster in clusters:
        executors = cluster.executors()
        assert len(executors) == 2
        os.kill(executors[0], signal.SIGKILL)
    ours, theirs = (json.loads(process.communicate(timeout=PATIENCE)[0]) for process in (receiver, sender))

    emails = pandas.DataFrame({"email": [f"User{3 * id}@Example.org" for id in range(rows)]})
    emails["region"] = [id % 7 for id in range(rows)]
    partners = {f"user{id}@example.org" for id in range(rows)}
    expected = emails[emails["email"].str.lower().isin(partners)]
    found = pandas.read_parquet(tmp_path / "receiver-rows").sort_values("email")
    assert found["email"].tolist() == sorted(expected["email"])
    assert dict(zip(found["email"], found["region"])) == dict(zip(expected["email"], expected["region"]))

    assert ours["matched_keys"] == len(expected) and theirs["matched_keys"] is None
    assert ours["session"] == theirs["session"] and ours["buckets"] == 10
    assert ours["input"]["rows"] == ours["input"]["distinct"] == rows
    commits = [[json.loads(file.read_text()) for file in (Path(work.removeprefix("file://")) / "commits").iterdir()]
               for work in (ours["work"], theirs["work"])]
    counted = [bucket["bucket"] for commit in commits[0] for bucket in commit["buckets"]]
    assert sorted(counted) == list(range(10)), "each bucket counts once"
    assert sorted(map(str, commits[0])) == sorted(map(str, commits[1])), "both sides have signed the same"
    attempts = [bucket["attempt"] for commit in commits[0] for bucket in commit["buckets"]]
    assert max(attempts) > 0, "a bucket was run again"


def test_a_partner_that_is_killed_ends_the_run_with_one_clear_error(clusters, tmp_path):
    receiver, sender = start_both(clusters, tmp_path, 20_000, buckets=40)
    log = tmp_path / "receiver.log"
    wait_for(log, r"[2-9] of 40 buckets are done", [receiver, sender])
    sender.kill()
    killed = time.monotonic()
    receiver.communicate(timeout=PATIENCE)
    assert receiver.returncode == 1
    errors = re.findall(r"^vesica\._errors\.(\w+): (.*)$", log.read_text(), re.MULTILINE)
    assert len(errors) == 1, log.read_text()
    kind, text = errors[0]
    assert kind == "LinkError" and "check that the partner's vesica still runs" in text
    assert time.monotonic() - killed < 60
    assert not (tmp_path / "receiver-rows").exists()
    sender.communicate()


@pytest.fixture(scope="module")
def session():
    os.environ.update(example.ENVIRONMENT)
    builder = pyspark.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.parquet.compression.codec", "gzip").getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"on": "price"}, vesica.InputError, "floats have no reliable equality"),
        ({"on": "no such"}, vesica.InputError, "has no column `no such`"),
        ({"on": "tags"}, vesica.InputError, "choose a column of text"),
        ({"security": "malicious"}, vesica.UsageError, "withstand no malicious partner"),
        ({"buckets": 1}, vesica.UsageError, "at least 2"),
        ({"payload": ["price"]}, vesica.UsageError, "payload does not run on a cluster"),
        ({"or_on": "price"}, vesica.UsageError, "alternatives"),
        ({"work": "here"}, vesica.UsageError, "no absolute path"),
        ({"role": "both"}, vesica.UsageError, "no role"),
        ({"join": "outer"}, vesica.UsageError, "no join on a cluster"),
        ({"rendezvous": "here"}, vesica.UsageError, "no address"),
        ({"dry_run": True}, vesica.UsageError, "no dry run on a cluster"),
        ({"progess": None, "lisen": "x"}, vesica.UsageError, "--listen"),
    ],
)
def test_what_cannot_run_is_refused_as_on_one_machine(session, tmp_path, identities, change, kind, said):
    us, _ = identities
    df = session.createDataFrame([("a@x.org", 1.5, ["x"])], "email string, price double, tags array<string>")
    given = {"on": "email", "role": "receiver", "work": str(tmp_path), "buckets": 2, "listen": "127.0.0.1:0"}
    with pytest.raises(kind, match=re.escape(said)):
        spark.intersect(df, **{**given, "wait": 0, **us, **change})


def test_a_partner_that_does_not_come_is_named(session, tmp_path, identities):
    us, _ = identities
    df = session.range(3)
    with pytest.raises(vesica.PeerAbsent, match="nobody connected within 1 s"):
        spark.intersect(df, on="id", role="receiver", work=str(tmp_path), listen="127.0.0.1:0", wait=1, **us)
    assert not list(tmp_path.glob("vesica-*")), "nothing was computed for nobody"


def test_digests_are_read_in_one_order_from_any_files(tmp_path):
    import pyarrow
    import pyarrow.parquet

    folder = tmp_path / "buckets" / "bucket=3"
    folder.mkdir(parents=True)
    digests = [bytes([number]) * 32 for number in (9, 2, 200, 5)]
    for name, part in (("b", digests[:3]), ("a", digests[3:])):
        pyarrow.parquet.write_table(pyarrow.table({_executors.DIGEST: part}), folder / f"part-{name}.parquet")
    (folder / "_SUCCESS").touch()
    read = _executors.digests_of(f"file://{tmp_path}", 3)
    assert read.column(0).to_pylist() == sorted(digests)
    assert _executors.digests_of(f"file://{tmp_path}", 4).num_rows == 0

"""Joins of two standalone Spark clusters, started from the package of PySpark; executors and partners that are killed."""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import pandas
import pytest

from conftest import SEMI_HONEST

import vesica
from vesica import _cluster, _executors, _folder, _spark
from vesica.testing import partner

pyspark = pytest.importorskip("pyspark.sql", reason="PySpark is missing")
if shutil.which("java") is None:
    if os.environ.get("CI"):
        pytest.fail("Java is missing: install a JDK of version 17", pytrace=False)
    pytest.skip("Java is missing", allow_module_level=True)

from vesica import spark  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "spark_two_clusters.py"

# `.ci/nightly` runs the tests once more with Spark Connect.
IS_REMOTE = bool(os.environ.get("VESICA_SPARK_CONNECT"))
without_connect = pytest.mark.skipif(IS_REMOTE, reason="is about a driver in the same program")

# The version of PySpark.
SPARK = tuple(int(part) for part in version("pyspark").split(".")[:2])

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


def wait_for(log, pattern, processes):
    """Waits for a line in a log."""
    end = time.monotonic() + PATIENCE
    while not re.search(pattern, log.read_text()):
        assert time.monotonic() < end, f"no {pattern} in {log.read_text()}"
        for process in processes:
            assert process.poll() is None, log.read_text()
        time.sleep(0.05)


class Between:
    """Stands between two drivers: passes on their connections, and holds runs of buckets in their middle on demand."""

    def __init__(self, port):
        self.port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:{}".format(self._listener.getsockname()[1])
        self._go = threading.Event()
        self._go.set()
        self._held = threading.Semaphore(0)
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self, runs):
        """Holds all runs that begin from now on, and returns when so many are held."""
        self._go.clear()
        for _ in range(runs):
            assert self._held.acquire(timeout=PATIENCE), "no bucket is run"

    def release(self):
        self._go.set()

    def _accept(self):
        while True:
            dialled, _ = self._listener.accept()
            try:
                answered = socket.create_connection(("127.0.0.1", self.port))
            except ConnectionRefusedError:
                # The partner does not listen yet. Whoever dials tries again.
                dialled.close()
                continue
            # What came before is no run, but the channel of the drivers.
            run = not self._go.is_set()
            for source, sink, to_hold in ((dialled, answered, run), (answered, dialled, False)):
                threading.Thread(target=self._pass, args=(source, sink, to_hold), daemon=True).start()

    def _pass(self, source, sink, to_hold):
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                passed += len(data)
                # Keys and greetings have passed, and most of the points of the bucket have not.
                if to_hold and passed > 20_000:
                    to_hold = False
                    self._held.release()
                    self._go.wait(PATIENCE)
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def commits(report):
    folder = Path(report["work"].removeprefix("file://")) / "commits"
    return sorted((json.loads(file.read_text()) for file in folder.iterdir()), key=lambda commit: commit["wave"])


# One test, since a session on a busy machine takes most of a minute to start.
@without_connect
def test_a_join_survives_lost_executors_and_a_lost_partner_is_a_clear_error(clusters, tmp_path):
    rows = 60_000
    port = free_port()
    between = Between(port)
    first = example.reach(tmp_path, port, rows=rows, buckets=40)
    first[1]["connect"] = between.address
    for role, settings in zip(("receiver", "sender"), first):
        settings["receipt"] = str(tmp_path / f"{role}.receipt.json")
    second = [{**settings, "rows": 10_000, "buckets": 64, "force": True, "receipt": None} for settings in first]
    folder = {"PYTHONPATH": str(EXAMPLE.parent)}
    parties = []
    for role, cluster, settings in zip(("receiver", "sender"), clusters, zip(first, second)):
        program = Path(__file__).with_name("spark_party.py")
        command = [sys.executable, "-W", "ignore", program, role, cluster.master, tmp_path, json.dumps(settings)]
        with open(tmp_path / f"{role}.log", "w") as log:
            parties.append(subprocess.Popen(command, env={**os.environ, **folder}, stdout=log, stderr=log))
    receiver, sender = parties
    log = tmp_path / "receiver.log"
    try:
        wait_for(log, r"40 of 40 buckets are through the first pass", parties)
        # Both workers of either side are in the middle of a bucket's second pass.
        between.hold(2)
        for cluster in clusters:
            executors = cluster.executors()
            assert len(executors) == 2
            os.kill(executors[0], signal.SIGKILL)
        between.release()
        wait_for(log, r"[0-9]+ of 64 buckets are through", parties)
        sender.kill()
        killed = time.monotonic()
        assert receiver.wait(PATIENCE) == 1
        assert time.monotonic() - killed < 60
    finally:
        for party in parties:
            party.kill()
            party.wait()

    ours, theirs = (json.loads((tmp_path / f"{role}-0.json").read_text()) for role in ("receiver", "sender"))
    emails = pandas.DataFrame({"email": [f"User{3 * id}@Example.org" for id in range(rows)]})
    emails["region"] = [id % 7 for id in range(rows)]
    partners = pandas.DataFrame({"mail": [f"user{id}@example.org" for id in range(rows)]})
    partners["segment"] = [None if id % 10 == 0 else f"segment {id % 4}" for id in range(rows)]
    partners["spent"] = [Decimal(id) / 4 for id in range(rows)]
    partners["since"] = [datetime.date(2026, 1, 1) + datetime.timedelta(days=id % 365) for id in range(rows)]
    expected = emails.merge(partners, left_on=emails["email"].str.lower(), right_on="mail").sort_values("email")
    found = pandas.read_parquet(tmp_path / "receiver-rows-0").sort_values("email")
    assert found["email"].tolist() == expected["email"].tolist()
    for name in ("region", "segment", "spent", "since"):
        values = [[None if pandas.isna(value) else value for value in table[name]] for table in (found, expected)]
        assert values[0] == values[1], name
    assert ours["matched_keys"] == len(expected) and theirs["matched_keys"] is None
    assert ours["session"] == theirs["session"] and ours["buckets"] == 40
    assert ours["input"]["rows"] == ours["input"]["distinct"] == rows
    assert commits(ours) == commits(theirs), "both sides have signed the same"
    attempts = [attempt for commit in commits(ours) for attempt in commit["attempts"]]
    counted = [attempt for attempt in attempts if attempt["sender"] == attempt["receiver"] is not None]
    assert sorted(attempt["bucket"] for attempt in counted) == sorted([*range(40)] * 2), "once in each of two passes"
    assert max(attempt["attempt"] for attempt in counted) > 1, log.read_text()
    for role, report in (("receiver", ours), ("sender", theirs)):
        folder = Path(report["work"].removeprefix("file://"))
        assert sorted(entry.name for entry in folder.iterdir()) == ["commits", *(["result"] if role == "receiver" else [])]
        said = [sys.executable, "-m", "vesica", "receipt", "--json", "--commits", folder / "commits"]
        said = json.loads(subprocess.check_output([*said, tmp_path / f"{role}.receipt.json"], text=True))
        assert said["commits"]["attempts"] == len(attempts) > 80, "an auditor sees what failed"
    (failed,) = set((tmp_path / "receiver-work").iterdir()) - {Path(ours["work"].removeprefix("file://"))}
    assert {entry.name for entry in failed.iterdir()} <= {"commits"}, "a run that failed leaves no rows"

    errors = re.findall(r"^vesica\._errors\.(\w+): (.*)$", log.read_text(), re.MULTILINE)
    assert len(errors) == 1, log.read_text()
    kind, text = errors[0]
    assert kind == "LinkError" and "check that the partner's vesica still runs" in text
    assert not (tmp_path / "receiver-rows-1").exists()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    os.environ.update(example.ENVIRONMENT)
    builder = pyspark.SparkSession.builder.config("spark.ui.enabled", "false")
    logs, local = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("local")
    builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", f"file:{logs}")
    builder = builder.config("spark.eventLog.compress", "false")
    builder = builder.config("spark.local.dir", str(local))
    session = (builder.remote("local[2]") if IS_REMOTE else builder.master("local[2]")).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def reached_by_executors(monkeypatch):
    """Says `rendezvous` wherever a test with Spark Connect does not."""
    if IS_REMOTE:
        inside = _cluster._inside
        monkeypatch.setattr(_cluster, "_inside", lambda said, pool: inside(said or "127.0.0.1:0", pool))


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"on": "price"}, vesica.InputError, "floats have no reliable equality"),
        ({"on": "no such"}, vesica.InputError, "has no column `no such`; its columns are `email`, `price`, `tags`"),
        ({"on": "Email"}, vesica.InputError, "did you mean `email`?"),
        ({"on": "tags"}, vesica.InputError, "choose a column of text"),
        ({"buckets": 1}, vesica.UsageError, "at least 2"),
        ({"buckets": "auto"}, vesica.UsageError, "a number of buckets"),
        ({"role": "sender", "payload": ["tags"]}, vesica.InputError, "choose a column of text"),
        ({"role": "sender", "payload": ["price"], "payload_duplicates": "first"}, vesica.UsageError, "have no order"),
        ({"work": "here"}, vesica.UsageError, "no absolute path"),
        ({"work": "/tmp/my work"}, vesica.UsageError, "has the character ' '"),
        ({"role": "both"}, vesica.UsageError, "no role"),
        ({"join": "outer"}, vesica.UsageError, "no join on a cluster"),
        ({"rendezvous": "here"}, vesica.UsageError, "no address"),
        ({"lisen": "x"}, vesica.UsageError, "did you mean listen=?"),
    ],
)
def test_what_cannot_run_is_refused_as_on_one_machine(session, tmp_path, identities, change, kind, said):
    us, _ = identities
    df = session.createDataFrame([("a@x.org", 1.5, ["x"])], "email string, price double, tags array<string>")
    given = {"on": "email", "role": "receiver", "work": str(tmp_path), "slots": 1, "listen": "127.0.0.1:0", **SEMI_HONEST}
    with pytest.raises(kind, match=re.escape(said)):
        spark.intersect(df, **{**given, "buckets": 2, "wait": 0, **us, **change})


@without_connect
def test_a_session_of_spark_connect_is_asked_for_what_it_does_not_say(session, tmp_path, identities, monkeypatch):
    us, _ = identities
    monkeypatch.setattr(_spark.SparkPool, "_context", lambda _: None)
    monkeypatch.setattr(_spark.SparkPool, "refuse_open_link", lambda _: None)
    given = {"on": "id", "role": "receiver", "work": str(tmp_path), "listen": "127.0.0.1:0", **SEMI_HONEST, **us}
    with pytest.raises(vesica.UsageError, match="how many tasks .*; say slots="):
        spark.intersect(session.range(3), **given)
    with pytest.raises(vesica.UsageError, match="at which address .*; say rendezvous="):
        spark.intersect(session.range(3), slots=1, **given)


def test_a_partner_that_does_not_come_is_named(session, tmp_path, identities):
    us, _ = identities
    df = session.range(3)
    with pytest.raises(vesica.PeerAbsent, match="nobody connected within 1 s"):
        given = {"work": str(tmp_path), "slots": 1, "listen": "127.0.0.1:0", "wait": 1, **SEMI_HONEST, **us}
        spark.intersect(df, on="id", role="receiver", **given)
    assert not list(tmp_path.glob("vesica-*")), "nothing was computed for nobody"


def test_both_sides_in_one_session(session, tmp_path):
    ours = session.createDataFrame([(" A@x.org", 1), ("b@x.org", 2), (None, 3), ("b@x.org", 4)], "email string, n int")
    theirs = session.createDataFrame([("a@x.org",), ("z@x.org",)], "mail string")
    shared = {"work": str(tmp_path), "buckets": 2, "slots": 1, "both_learn": True, **SEMI_HONEST}
    with partner(theirs, on="mail", role="sender", normalise={"mail": "email"}, **shared) as them:
        arguments = {"on": "email", "role": "receiver", "normalise": {"email": "email"}, "with_report": True}
        others, report = spark.intersect(ours, join="difference", **arguments, **shared, **them)
    assert others.schema == ours.schema
    assert sorted(row.n for row in others.collect()) == [2, 3, 4], "rows without a key match nothing"
    assert [row.mail for row in them.result.collect()] == ["a@x.org"]
    assert report["input"]["null_rows"] == 1 and report["input"]["duplicate_rows"] == 1
    assert (report["matched_keys"], report["own_items"], report["peer_items"]) == (1, 2, 2)
    folder = Path(report["work"].removeprefix("file://"))
    assert sorted(entry.name for entry in folder.iterdir()) == ["commits", "result"], "the result needs no more"


def test_totals_are_those_of_pandas_polars_and_duckdb(session, tmp_path):
    import duckdb
    import polars

    ours = session.range(700).selectExpr("concat(' User', id * 3, '@Example.org') as email")
    theirs = session.range(900).selectExpr(
        "concat('user', id * 2, '@example.org') as mail",
        "cast(id * 0.25 - 100 as decimal(9,2)) as amount",
        "if(id % 5 = 0, null, id) as visits",
    )
    shared = {"work": str(tmp_path), "buckets": 3, "slots": 1, "keep": True, **SEMI_HONEST}
    us = {"on": "email", "role": "receiver", "normalise": {"email": "email"}, **shared}
    them = {"on": "mail", "role": "sender", "normalise": {"mail": "email"}, **shared}
    emails, partners = ours.toPandas(), theirs.toPandas()
    emails["mail"] = emails["email"].str.strip().str.lower()
    common = emails.merge(partners, on="mail")

    with partner(theirs, task="cardinality", **them) as reach:
        count, report = spark.cardinality(ours, with_report=True, **us, **reach)
    keys = polars.DataFrame(emails).join(polars.DataFrame(partners[["mail"]]), on="mail")
    assert count == len(common) == len(keys) == duckdb.sql("select mail from emails semi join partners using (mail)").shape[0]
    assert them_learned_nothing(reach) and report["matched_keys"] is None
    files = [file.name for file in Path(report["work"].removeprefix("file://")).iterdir()]
    assert sorted(files) == ["buckets", "commits", "shares"], "the rows themselves are not kept"

    terms = {"payload": ["amount"], "scale": {"amount": 2}, "clamp": {"amount": (-50, 90)}}
    with partner(theirs, task="sum", **terms, **them) as reach:
        sums = spark.sum(ours, **us, **reach)
    expected = common["amount"].clip(-50, 90).sum()
    assert [row.asDict() for row in sums.collect()] == [{"amount": expected}]
    assert duckdb.sql("select sum(greatest(-50, least(90, amount))) from common").fetchall() == [(expected,)]
    (value,) = reach.report["values"]
    assert value["clamped"] == ((partners["amount"] < -50) | (partners["amount"] > 90)).sum()

    # Rows that share a key.
    twice = theirs.unionAll(theirs.selectExpr("upper(mail) as mail", "amount + 1 as amount", "visits"))
    them.update(payload=["amount"], scale={"amount": 2})
    with partner(twice, task="sum", payload_duplicates="sum", **them) as reach:
        sums = spark.sum(ours, **us, **reach)
    assert sums.collect()[0].amount == 2 * common["amount"].sum() + len(common)
    with pytest.raises(vesica.InputError, match='900 keys have rows that differ in column "amount"; .*payload_duplicates'):
        with partner(ours, task="sum", **{**us, "wait": 60}) as reach:
            spark.sum(twice, **them, **reach)
    with pytest.raises(vesica.InputError, match="a value in column `visits` that is missing"):
        with partner(ours, task="sum", **us) as reach:
            spark.sum(theirs, **{**them, "payload": ["visits"], "scale": {}}, **reach)
    large = session.range(1).selectExpr("'user0@example.org' as mail", "9223372036854775807 as amount")
    with pytest.raises(vesica.InputError, match='the values of 1 key in column "amount" add up to more than 64 bits'):
        with partner(ours, task="sum", **us) as reach:
            spark.sum(large.unionAll(large), **{**them, "scale": {}}, payload_duplicates="sum", **reach)


def test_a_union_is_that_of_the_plain_tables(session, tmp_path):
    # Repeated keys and rows without a key.
    ours = session.range(300).selectExpr("if(id % 50 = 7, null, cast(id * 3 % 600 as int)) as id", "cast(id as string) as text")
    theirs = session.range(250).selectExpr(
        "if(id = 9, null, cast(id % 200 * 2 as string)) as key", "if(id % 200 % 7 = 0, null, date_add('2026-01-01', cast(id % 200 as int))) as day"
    )
    shared = {"work": str(tmp_path), "buckets": 3, "slots": 1, **SEMI_HONEST}
    with partner(theirs, on="key", role="sender", task="union", payload=["day"], **shared) as them:
        rows, report = spark.union(ours, on="id", role="receiver", with_report=True, **shared, **them)
    assert [(field.name, field.dataType.simpleString()) for field in rows.schema] == [("id", "int"), ("text", "string"), ("day", "date")]
    own = [(row.id, row.text, None) for row in ours.collect()]
    keys = {id for id, *_ in own}
    new = {int(row.key): row.day for row in theirs.collect() if row.key is not None and int(row.key) not in keys}
    expected = own + [(key, None, day) for key, day in new.items()]
    assert sorted(map(tuple, rows.collect()), key=str) == sorted(expected, key=str)
    assert report["output"]["new_rows"] == len(new) and them_learned_nothing(them)


def test_results_by_group_and_products_are_those_of_duckdb(session, tmp_path):
    import duckdb

    ours = session.range(700).selectExpr(
        "concat(' User', id * 3, '@Example.org') as email",
        "if(id % 4 = 0, null, concat('region ', id % 4)) as region",
        "cast(id % 9 - 4 as decimal(5,1)) as weight",
    ).repartition(3)
    theirs = session.range(900).selectExpr(
        "concat('user', id * 2, '@example.org') as mail", "cast(id * 0.25 - 100 as decimal(9,2)) as amount"
    )
    shared = {"work": str(tmp_path), "buckets": 3, "slots": 1, **SEMI_HONEST}
    us = {"on": "email", "role": "receiver", "normalise": {"email": "email"}, "group_by": "region", **shared}
    them = {"on": "mail", "role": "sender", "normalise": {"mail": "email"}, "max_groups": 4, **shared}
    own, partners = ours.toPandas(), theirs.toPandas()
    own["mail"] = own["email"].str.strip().str.lower()
    plain = "from own left join partners using (mail) group by region order by region nulls first"

    with partner(theirs, task="cardinality", **them) as reach:
        counts = spark.cardinality(ours, **us, **reach)
    found = [(row.region, row.cardinality) for row in counts.collect()]
    assert found == duckdb.sql(f"select region, count(amount) {plain}").fetchall()
    assert len(found) == 4 and found[0][0] is None
    # Two of the groups have no common keys, and are withheld.
    terms = {"payload": ["amount"], "scale": {"amount": 2}, "reveal_if_at_least": 2}
    with partner(theirs, task="join-and-compute", **terms, **them) as reach:
        settings = {"scale": {"weight": 1}, "reveal_if_at_least": 2, **us, **reach}
        sums = spark.join_and_compute(ours, payload="weight", **settings)
    found = [(row.region, row.amount_times_weight) for row in sums.collect()]
    withheld = "case when count(amount) >= 2 then sum(amount * weight) end"
    assert found == duckdb.sql(f"select region, {withheld} {plain}").fetchall()
    assert [total is None for _, total in found] == [False, True, False, True]
    assert them_learned_nothing(reach)


def them_learned_nothing(reach):
    return reach.result is None and reach.report["matched_keys"] is None and reach.report["output"] is None


@pytest.mark.parametrize(
    ("task", "change", "said"),
    [
        ("cardinality", {"security": "malicious", "wait": 60}, "semi-honest"),
        ("cardinality", {"role": "sender", "group_by": "email"}, "group_by= is for the receiver"),
        ("union_cardinality", {"group_by": "email"}, "in none of the receiver's groups"),
        ("cardinality", {"group_by": "no such"}, "has no column `no such`"),
        ("join_and_compute", {}, "one column of the receiver"),
        ("union_cardinality", {"reveal_if_at_least": 5}, "a threshold on new keys protects no key"),
        ("cardinality", {"join": "difference"}, "join= is for intersect"),
        ("cardinality", {"payload": ["email"]}, "a cardinality takes no columns of values"),
        ("sum", {"role": "sender"}, "a sum needs a column"),
        ("sum", {"role": "sender", "payload": ["price"]}, "computed with"),
        ("sum", {"role": "sender", "payload": ["no such"]}, "has no column `no such`"),
        ("sum", {"role": "sender", "payload": ["n"], "payload_duplicates": "first"}, "have no order"),
    ],
)
def test_totals_that_cannot_run_are_refused_as_on_one_machine(session, tmp_path, identities, task, change, said):
    us, _ = identities
    df = session.createDataFrame([("a@x.org", 1.5, 1)], "email string, price double, n int")
    given = {"on": "email", "role": "receiver", "work": str(tmp_path), "slots": 1, "listen": "127.0.0.1:0", **SEMI_HONEST}
    with pytest.raises(vesica.Error, match=re.escape(said)):
        getattr(spark, task)(df, **{**given, "buckets": 2, "wait": 0, **us, **change})


def test_differing_settings_are_named_on_both_sides(session, tmp_path):
    df = session.range(3)
    shared = {"work": str(tmp_path), "slots": 1, **SEMI_HONEST}
    with pytest.raises(vesica.SettingsDiffer, match="buckets= is"):
        with partner(df, on="id", role="sender", buckets=3, **shared) as them:
            spark.intersect(df, on="id", role="receiver", buckets=2, **shared, **them)
    with pytest.raises(vesica.SettingsDiffer, match="run on a cluster is"):
        with partner([1, 2], role="sender", buckets=2, security="semi-honest") as them:
            spark.intersect(df, on="id", role="receiver", buckets=2, **shared, **them)


def test_a_fault_in_a_row_is_the_error_of_one_machine(session, tmp_path):
    # Spark evaluates it when the rows are read: an executor finds the fault.
    df = session.range(3).selectExpr("if(id < 2, cast(id as string), raise_error('no such number')) as id")
    with pytest.raises(vesica.OutputError, match="the cluster failed with ") as caught:
        with partner(session.range(3), on="id", role="sender", **small(tmp_path)) as them:
            spark.intersect(df, on="id", role="receiver", **small(tmp_path), **them)
    said = str(caught.value.__cause__)
    # PySpark 3.5 has no class for it.
    assert "no such number" in said and ("USER_RAISED_EXCEPTION" in said or SPARK < (4,))


def small(folder):
    return {"work": str(folder), "buckets": 2, "slots": 1, **SEMI_HONEST}


def test_a_run_that_fails_leaves_no_rows_and_no_hashes(session, tmp_path):
    ours = session.range(3).selectExpr("cast(id as string) as id", "id as amount")
    twice = ours.unionAll(ours.selectExpr("id", "amount + 1 as amount"))
    with pytest.raises(vesica.InputError, match="3 keys have rows that differ"):
        with partner(ours, task="sum", on="id", role="receiver", wait=60, **small(tmp_path)) as them:
            spark.sum(twice, on="id", role="sender", payload=["amount"], **small(tmp_path), **them)
    left = [entry for folder in tmp_path.iterdir() for entry in folder.rglob("*")]
    assert not any(entry.is_file() for entry in left), left


@without_connect
def test_the_folder_of_a_run_is_private_and_tickets_are_nowhere_else(session, tmp_path, monkeypatch):
    handed_out, modes = [], []
    write = _folder.write

    def watch(folder, name, content, **how):
        write(folder, name, content, **how)
        path = Path(folder.removeprefix("file://"))
        modes.append((stat.S_IMODE(path.stat().st_mode), stat.S_IMODE((path / name).stat().st_mode)))
        if name.startswith("tickets/") and name != _executors.MATCHED:
            handed_out.append(json.loads(content))

    monkeypatch.setattr(_folder, "write", watch)
    df = session.range(300).selectExpr("cast(id as string) as id")
    settings = {**small(tmp_path), "buckets": 20, "keep": True, "with_report": True}
    with partner(df, on="id", role="sender", **{**settings, "with_report": False}) as them:
        rows, report = spark.intersect(df, on="id", role="receiver", **settings, **them)
    assert rows.count() == 300 and set(modes) == {(0o700, 0o600)}
    folder = Path(report["work"].removeprefix("file://"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {"rows", "shares", "buckets", "matches", "found", "commits", "result"} == {entry.name for entry in folder.iterdir()}
    of_files = {stat.S_IMODE(entry.stat().st_mode) for entry in folder.rglob("*") if entry.is_file()}
    assert of_files == {0o600}, "also files that Spark writes"
    # One worker of each side, with at most 16 buckets in turn.
    assert sorted(map(len, handed_out)) == [4, 4, 16, 16]
    secrets = [json.loads(ticket)[name].encode() for tickets in handed_out for *_, ticket in tickets for name in ("seed", "pass")]
    assert len(set(secrets)) == 80
    logs = [entry for entry in Path(session.conf.get("spark.eventLog.dir").removeprefix("file:")).rglob("*") if entry.is_file()]
    assert any(b"mapInArrow" in entry.read_bytes() or b"MapInArrow" in entry.read_bytes() for entry in logs)
    for entry in [*logs, *(entry for entry in Path(session.conf.get("spark.local.dir")).rglob("*") if entry.is_file())]:
        try:
            content = entry.read_bytes()
        except FileNotFoundError:  # Spark cleans up when it likes.
            continue
        assert not any(secret in content for secret in secrets), entry


def test_a_link_of_spark_connect_without_tls_is_refused_unless_it_is_local(tmp_path):
    class Builder:
        def __init__(self, host, secure):
            self.host, self.secure = host, secure

    def refuse(*builder):
        pool = object.__new__(_spark.SparkPool)
        pool._spark = type("Session", (), {"client": type("Client", (), {"_builder": Builder(*builder)})})
        pool.refuse_open_link()

    for host in ("spark.example", "10.0.0.5", "1270.example"):
        with pytest.raises(vesica.UsageError, match=f"reaches {host} without TLS .*use_ssl=true"):
            refuse(host, False)
        refuse(host, True)
    for host in ("localhost", "127.0.0.1", "::1", "[::1]"):
        refuse(host, False)


def test_tables_are_joined_where_they_are(session):
    df = session.range(1)
    with pytest.raises(vesica.UsageError, match="joined on its cluster.*use vesica.spark.intersect"):
        vesica.intersect(df, on="id", role="receiver", connect="127.0.0.1:1")
    with pytest.raises(vesica.UsageError, match="joined on its cluster"):
        vesica.check(df, on="id")
    for table in (pandas.DataFrame({"id": [1]}), [1], {"id": [1]}, None, "df"):
        with pytest.raises(vesica.UsageError, match="is no DataFrame of Spark; use vesica.intersect"):
            spark.intersect(table, on="id", role="receiver", work="/tmp")


@without_connect
def test_executors_without_vesica_are_told(session, tmp_path, monkeypatch):
    monkeypatch.setattr(session.sparkContext, "pythonExec", "/usr/bin/python3")
    df = session.range(3)
    with pytest.raises(vesica.Error) as caught:
        with partner(df, on="id", role="sender", **small(tmp_path)) as them:
            spark.intersect(df, on="id", role="receiver", **small(tmp_path), **them)
    # The side that finds it first tells the other that its cluster failed.
    told = f"{caught.value} {caught.value.__cause__}"
    assert "the Python of the executors has no vesica; install vesica for it" in told


def test_a_partner_that_ends_has_the_job_cancelled(session, tmp_path):
    slow = session.range(0, 1, 1, 1).selectExpr("java_method('java.lang.Thread', 'sleep', 20000L) as none", "id")
    # The partner's table has a fault that shows when it is read.
    df = session.range(1).selectExpr("raise_error('no') as id")
    with pytest.raises(vesica.Error) as caught:
        with partner(df, on="id", role="sender", **small(tmp_path)) as them:
            spark.intersect(slow, on="id", role="receiver", **small(tmp_path), **them)
    assert isinstance(caught.value, vesica.PeerFailed) and "its cluster failed" in str(caught.value)
    if IS_REMOTE:
        time.sleep(25)
    else:
        while session.sparkContext.statusTracker().getActiveJobsIds():
            time.sleep(0.1)
    assert not list(tmp_path.glob("vesica-*/shares/*")), "the jobs went on to their end"


def test_rows_of_all_types_come_back_as_they_were(session, tmp_path):
    ours = session.range(40).selectExpr(
        "concat('k', id) as key",
        "cast(id as tinyint) as byte",
        "cast(id as smallint) as short",
        "cast(id as int) as number",
        "id * 1000000007 as long",
        "cast(id / 3 as float) as single",
        "if(id % 5 = 0, null, id / 7) as double",
        "id % 2 = 0 as flag",
        "cast(id * 1.01 as decimal(9,2)) as small",
        "cast(id as decimal(38,10)) * 1000000007 as large",
        "unhex(hex(id)) as bytes",
        "date_add(date'1969-12-30', cast(id as int)) as day",
        "timestamp_micros(id * 1234567 - 5) as instant",
        "cast(timestamp_micros(id * 1234567) as timestamp_ntz) as local",
        "array(id, null, id + 1) as list",
        "map(concat('a', id), id) as pairs",
        "named_struct('x', id, 'y', array(named_struct('z', cast(id as string)))) as nested",
        "make_dt_interval(0, 0, 0, id) as span",
        "if(id % 3 = 0, null, '') as text",
    )
    theirs = session.range(0, 40, 3).selectExpr("concat('k', id) as key")
    with partner(theirs, on="key", role="sender", **small(tmp_path)) as them:
        rows = spark.intersect(ours, on="key", role="receiver", **small(tmp_path), **them)
    # What Spark reads from files may be null.
    types = [[re.sub("false", "true", field.dataType.json()) for field in df.schema] for df in (rows, ours)]
    assert types[0] == types[1]
    expected = ours.join(theirs, "key", "left_semi").orderBy("long").collect()
    assert rows.orderBy("long").collect() == expected and len(expected) == 14


def test_names_that_spark_cannot_tell_apart_are_refused(session, tmp_path, identities):
    us, _ = identities
    df = session.range(3).selectExpr("id as key", "id as v", "id as V")
    given = {"on": "key", "role": "receiver", "listen": "127.0.0.1:0", "wait": 0, **small(tmp_path), **us}
    with pytest.raises(vesica.UsageError, match="more than one column 'v'"):
        spark.intersect(df, **given)


@without_connect
def test_a_spark_cluster_joins_with_one_of_dask(session, tmp_path):
    import pyarrow

    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask.dataframe")
    count = 30
    columns = {
        "mail": pyarrow.array([f"u{id}@x.org" for id in range(count)]),
        "Email": pyarrow.array([f"other{id}" for id in range(count)]),
        "whole": pyarrow.array([2**64 - 1 - id for id in range(count)], pyarrow.uint64()),
        "tiny": pyarrow.array([id for id in range(count)], pyarrow.uint8()),
        "when": pyarrow.array([datetime.datetime(2026, 1, 1, 0, 0, id) for id in range(count)], pyarrow.timestamp("ns")),
        "name": pyarrow.array([None if id % 4 == 0 else f"n{id}" for id in range(count)], pyarrow.large_string()),
        "price": pyarrow.array([Decimal(id) / 8 for id in range(count)], pyarrow.decimal128(12, 3)),
    }
    theirs = pandas.DataFrame({name: pandas.arrays.ArrowExtensionArray(column) for name, column in columns.items()})
    ours = session.range(0, 60, 2).selectExpr("concat('u', id, '@x.org') as email", "id")
    payload = [name for name in columns if name != "mail"]
    settings = {**small(tmp_path), "slots": 2}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            ddf = dask.from_pandas(theirs, npartitions=2)
            with partner(ddf, on="mail", role="sender", payload=payload, **settings) as them:
                rows = spark.intersect(ours, on="email", role="receiver", join="left", **settings, **them)
    assert rows.columns == ["email", "id", "partner_Email", *payload[1:]]
    found = {row.id: row for row in rows.collect()}
    assert sorted(found) == list(range(0, 60, 2))
    for id, row in found.items():
        expected = [columns[name][id].as_py() for name in payload] if id < count else [None] * len(payload)
        expected = [value.to_pydatetime() if hasattr(value, "to_pydatetime") else value for value in expected]
        assert list(row)[2:] == expected

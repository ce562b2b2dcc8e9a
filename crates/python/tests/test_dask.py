"""Joins of Dask DataFrames on a cluster of two workers, which are processes of this machine."""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import threading

import pandas
import pytest

from conftest import SEMI_HONEST

import vesica
from vesica.testing import partner

distributed = pytest.importorskip("distributed", reason="Dask is missing")
dask_frames = pytest.importorskip("dask.dataframe")
distributed_config = pytest.importorskip("dask.config")

from vesica import dask  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def frames(rows, parts):
    ours = pandas.DataFrame({"email": [f" User{3 * id}@Example.org" for id in range(rows)]})
    ours["n"] = range(rows)
    ours["small"] = pandas.array([id if id % 5 else None for id in range(rows)], dtype="Int64")
    ours["kind"] = pandas.Categorical([f"k{id % 3}" for id in range(rows)])
    ours["at"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(range(rows), unit="h")
    ours["day"] = [datetime.date(2026, 1, 1 + id % 28) for id in range(rows)]
    ours.index = [f"row{id}" for id in range(rows)]
    theirs = pandas.DataFrame({"mail": [f"user{2 * id}@example.org" for id in range(rows)]})
    theirs["segment"] = [None if id % 7 == 0 else f"s{id % 4}" for id in range(rows)]
    theirs["score"] = pandas.array([None if id % 11 == 0 else 2**60 + id for id in range(rows)], dtype="Int64")
    theirs["n"] = [id / 4 for id in range(rows)]
    return [dask_frames.from_pandas(table, npartitions=parts, sort=False) for table in (ours, theirs)]


def shared(folder, buckets=4):
    return {"work": str(folder), "buckets": buckets, "slots": 2, **SEMI_HONEST}


EMAIL = {"normalise": {"email": "email"}}
MAIL = {"normalise": {"mail": "email"}}


def test_rows_of_all_joins_are_those_of_pandas(client, tmp_path):
    ours, theirs = frames(500, 3)
    payload = ["segment", "score", "n"]
    own, other = ours.compute(), theirs.compute().rename(columns={"n": "partner_n"})
    own["key"] = own["email"].str.strip().str.lower()
    for join in ("inner", "left", "difference"):
        with partner(theirs, on="mail", role="sender", payload=payload, **MAIL, **shared(tmp_path)) as them:
            rows = dask.intersect(ours, on="email", role="receiver", join=join, **EMAIL, **shared(tmp_path), **them)
        found = rows.compute()
        how = {"difference": "left"}.get(join, join)
        expected = own.reset_index(names="label").merge(other, left_on="key", right_on="mail", how=how)
        if join == "difference":
            expected = expected[expected["mail"].isna()]
        expected = expected.set_index("label")
        columns = [*ours.columns, *([] if join == "difference" else ["segment", "score", "partner_n"])]
        assert list(found.columns) == columns and list(rows.columns) == columns
        assert found.index.tolist() == expected.index.tolist(), "rows and labels, in their order"
        for name in columns:
            values = [None if pandas.isna(value) else value for value in found[name]]
            assert values == [None if pandas.isna(value) else value for value in expected[name]], (join, name)
        for name in ours.columns:
            assert found[name].dtype == ours[name].dtype, name


def test_passes_against_a_malicious_partner(client, tmp_path):
    ours, theirs = frames(600, 2)
    settings = {"work": str(tmp_path), "buckets": 3, "slots": 2, "both_learn": True}
    with partner(theirs, on="mail", role="sender", payload=["score"], **MAIL, **settings) as them:
        rows, report = dask.intersect(ours, on="email", role="receiver", with_report=True, **EMAIL, **settings, **them)
    expected = {3 * id: 2**60 + 3 * id // 2 for id in range(600) if id % 2 == 0 and 3 * id < 1200}
    found = rows.compute()
    assert (report["security"], len(found)) == ("malicious", len(expected))
    for n, score in zip(found["n"], found["score"]):
        assert (3 * n in expected) and (pandas.isna(score) if 3 * n // 2 % 11 == 0 else score == expected[3 * n])
    assert len(them.result) == len(expected)


def test_totals_and_both_sides(client, tmp_path):
    ours, theirs = frames(300, 2)
    theirs["amount"] = 7
    with partner(theirs, on="mail", role="sender", task="cardinality", **MAIL, **shared(tmp_path)) as them:
        count = dask.cardinality(ours, on="email", role="receiver", **EMAIL, **shared(tmp_path), **them)
    common = len(set(range(0, 900, 3)) & set(range(0, 600, 2)))
    assert count == common
    with partner(theirs, on="mail", role="sender", task="union-cardinality", **MAIL, **shared(tmp_path)) as them:
        count = dask.union_cardinality(ours, on="email", role="receiver", **EMAIL, **shared(tmp_path), **them)
    assert count == 600 - common
    sent = {"payload": ["amount"], **MAIL, **shared(tmp_path)}
    with partner(theirs, on="mail", role="sender", task="sum", **sent) as them:
        sums = dask.sum(ours, on="email", role="receiver", **EMAIL, **shared(tmp_path), **them)
    assert sums.to_dict("list") == {"amount": [7 * common]}
    with partner(theirs, on="mail", role="sender", task="union-sum", **sent) as them:
        sums = dask.union_sum(ours, on="email", role="receiver", payload=["n"], **EMAIL, **shared(tmp_path), **them)
    assert sums.iloc[0].tolist() == [7 * (300 - common) + sum(range(300))]
    with partner(theirs, on="mail", role="sender", both_learn=True, **MAIL, **shared(tmp_path)) as them:
        rows = dask.intersect(ours, on="email", role="receiver", both_learn=True, **EMAIL, **shared(tmp_path), **them)
    assert len(rows) == len(them.result) == common


def test_both_sides_of_a_union_get_the_rows_of_pandas(client, tmp_path):
    # Repeated keys, rows without a key, and numbers that no float holds.
    ours = pandas.DataFrame({"email": [*(f" User{3 * id}@Example.org" for id in range(200)), " User0@Example.org", None]})
    ours["n"] = [2**60 + id for id in range(len(ours))]
    ours["kind"] = pandas.Categorical([f"k{id % 3}" for id in range(len(ours))])
    ours.index = [f"row{id}" for id in range(len(ours))]
    theirs = pandas.DataFrame({"mail": [*(f"user{2 * id}@example.org" for id in range(150)), None, "user2@example.org"]})
    theirs["score"] = pandas.array([*(None if id % 11 == 0 else 2**60 + id for id in range(150)), 5, 2**60 + 1], dtype="Int64")
    parts = [dask_frames.from_pandas(table, npartitions=3, sort=False) for table in (ours, theirs)]
    settings = {"both_learn": True, "pad_to": 400, **shared(tmp_path)}
    with partner(parts[1], on="mail", role="sender", task="union", payload=["score"], **MAIL, **settings) as them:
        rows, report = dask.union(parts[0], on="email", role="receiver", with_report=True, **EMAIL, **settings, **them)
    at_us, at_them = rows.compute(), them.result.compute()
    ours["key"] = ours["email"].str.strip().str.lower()

    def cells(table, names):
        return [tuple(None if pandas.isna(value) else value for value in row) for row in table[names].itertuples(index=False)]

    assert list(rows.columns) == list(at_us.columns) == ["email", "n", "kind", "score"]
    assert (str(rows["n"].dtype), str(at_us["n"].dtype), str(at_us["kind"].dtype)) == ("Int64", "Int64", "category")
    assert cells(at_us[: len(ours)], ["email", "n", "kind"]) == cells(ours, ["email", "n", "kind"])
    assert at_us["score"][: len(ours)].isna().all() and at_us["n"][len(ours) :].isna().all()
    new = theirs.dropna(subset="mail").drop_duplicates("mail")
    new = new[~new["mail"].isin(ours["key"])]
    names = {"email": "mail"}
    assert sorted(cells(at_us[len(ours) :].rename(columns=names), ["mail", "score"]), key=str) == sorted(cells(new, ["mail", "score"]), key=str)
    assert report["output"]["new_rows"] == len(new) and report["output"]["rows"] == len(at_us)

    assert cells(at_them[: len(theirs)], ["mail", "score"]) == cells(theirs, ["mail", "score"])
    assert sorted(at_them["mail"][len(theirs) :]) == sorted(set(ours["key"].dropna()) - set(theirs["mail"]))
    assert at_them["score"][len(theirs) :].isna().all()


def grouped(rows, parts):
    ours = pandas.DataFrame({"id": [3 * id for id in range(rows)], "weight": [id % 9 - 4 for id in range(rows)]})
    ours["region"] = [None if id % 4 == 0 else f"region {id % 4}" for id in range(rows)]
    # A group that one partition has alone, and none of whose keys is common.
    ours.loc[rows - 1, ["id", "region"]] = [-1, "a rare one"]
    theirs = pandas.DataFrame({"key": [2 * id for id in range(rows)], "amount": [id - 50 for id in range(rows)]})
    both = ours.merge(theirs, left_on="id", right_on="key", how="left")
    both["product"] = (both["weight"] * both["amount"]).fillna(0).astype(int)
    return ours, theirs, both, [dask_frames.from_pandas(table, npartitions=parts) for table in (ours, theirs)]


def by_region(values):
    # Null first, as on one machine.
    found = [tuple(None if pandas.isna(cell) else cell for cell in group) for group in values.items()]
    return sorted(found, key=lambda row: (row[0] is not None, row[0] or ""))


def test_results_by_group_and_products_are_those_of_pandas_and_one_machine(client, tmp_path):
    ours, theirs, both, (our_parts, their_parts) = grouped(400, 3)
    groups = both.groupby("region", dropna=False)
    us = {"on": "id", "role": "receiver", "group_by": "region", **shared(tmp_path)}
    them = {"on": "key", "role": "sender", "max_groups": 5, **shared(tmp_path)}
    alone = {"group_by": "region", "on": "id", "role": "receiver", **SEMI_HONEST}
    alone_them = {"on": "key", "role": "sender", "max_groups": 5, **SEMI_HONEST}
    columns, few = {"payload": ["amount"]}, {"reveal_if_at_least": 2}
    for task, own, other, name, expected in [
        ("cardinality", {}, {}, "cardinality", groups["amount"].count()),
        ("sum", few, {**columns, **few}, "amount", groups["amount"].sum().where(groups["amount"].count() >= 2)),
        ("join_and_compute", {"payload": "weight"}, columns, "amount_times_weight", groups["product"].sum()),
    ]:
        with partner(their_parts, task=task, **other, **them) as reach:
            found, report = getattr(dask, task)(our_parts, with_report=True, **own, **us, **reach)
        regions = [None if pandas.isna(region) else region for region in found["region"]]
        results = [None if pandas.isna(result) else result for result in found[name]]
        assert list(zip(regions, results)) == by_region(expected), task
        assert reach.result is None and "in 5 groups" in " ".join(report["revealed"])
        with partner(theirs, task=task, **other, **alone_them) as reach:
            same = getattr(vesica, task)(ours, **own, **alone, **reach)
        assert found.equals(same) and list(found.columns) == ["region", name], task
    with partner(their_parts, task="join-and-compute", **columns, **{**them, "max_groups": 1}) as reach:
        settings = {**us, "group_by": None}
        total = dask.join_and_compute(our_parts, payload="weight", **settings, **reach)
    assert total.to_dict("list") == {"amount_times_weight": [both["product"].sum()]}
    with partner(their_parts, dry_run=True, task="sum", **columns, **them) as reach:
        found = dask.dry_run(our_parts, task="sum", expect_peer_items=400, **us, **reach)
    assert found["ok"] and "5 groups" in json.dumps(found["revealed"])
    assert {file.name for run in tmp_path.iterdir() for file in run.iterdir()} == {"commits"}, "nothing else stays"


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ("conflict", vesica.InputError, "1 key has rows in several groups of column \"region\""),
        ("many", vesica.InputError, "column `region` of the DataFrame has more than 1024 different values"),
        ("most", vesica.Error, "5 groups, more than the 4"),
    ],
)
def test_groups_that_cannot_be_are_refused(client, tmp_path, change, kind, said):
    rows = 2000 if change == "many" else 400
    ours, _, _, (_, their_parts) = grouped(rows, 2)
    if change == "conflict":
        ours.loc[rows - 1, "id"] = ours.loc[2, "id"]
    if change == "many":
        ours["region"] = [f"r{id % 1100}" for id in range(rows)]
    our_parts = dask_frames.from_pandas(ours, npartitions=4)
    settings = {"on": "key", "role": "sender", "max_groups": 4, **shared(tmp_path)}
    with pytest.raises(kind, match=re.escape(said)):
        with partner(their_parts, task="cardinality", **settings) as reach:
            dask.cardinality(our_parts, on="id", role="receiver", group_by="region", **shared(tmp_path), **reach)


def test_labels_of_an_index_with_a_name_stay_and_are_no_column(client, tmp_path):
    ours = pandas.DataFrame({"email": [f"u{id}@x.org" for id in range(40)], "v": range(40)})
    ours.index = pandas.Index(range(100, 140), name="id")
    theirs = pandas.DataFrame({"mail": [f"u{id}@x.org" for id in range(0, 40, 3)]})
    # A whole partition without a value.
    theirs["note"] = [None if place < 7 else f"n{place}" for place in range(len(theirs))]
    # Of which each partition has other ones.
    theirs["mail"] = theirs["mail"].astype("category")
    ours, theirs = (dask_frames.from_pandas(table, npartitions=2) for table in (ours, theirs))
    with partner(theirs, on="mail", role="sender", payload=["note"], **shared(tmp_path)) as them:
        rows = dask.intersect(ours, on="email", role="receiver", **shared(tmp_path), **them)
    found = rows.compute()
    assert (found.index.name, found.index.tolist()) == ("id", list(range(100, 140, 3)))
    assert list(found.columns) == ["email", "v", "note"]
    assert [None if pandas.isna(note) else note for note in found["note"]] == [None] * 7 + [f"n{n}" for n in range(7, 14)]


def test_a_lost_worker_does_not_end_the_run(client, tmp_path):
    ours, theirs = frames(3000, 4)
    killed = threading.Event()

    def kill(state):
        # Nanny processes start another one.
        if not killed.is_set() and state["stage"] == "running":
            killed.set()
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    settings = {"work": str(tmp_path), "buckets": 24, "slots": 2}
    with partner(theirs, on="mail", role="sender", **MAIL, **settings) as them:
        rows = dask.intersect(ours, on="email", role="receiver", progress=kill, **EMAIL, **settings, **them)
    assert killed.is_set()
    common = set(range(0, 9000, 3)) & set(range(0, 6000, 2))
    assert sorted(rows.compute()["n"]) == sorted(id // 3 for id in common)


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"on": "no such"}, vesica.InputError, "has no column `no such`"),
        ({"work": "here"}, vesica.UsageError, "no absolute path"),
        ({"join": "outer"}, vesica.UsageError, "no join on a cluster"),
        ({"lisen": "x"}, vesica.UsageError, "did you mean listen=?"),
        ({"on": "price"}, vesica.InputError, "floats have no reliable equality"),
    ],
)
def test_what_cannot_run_is_refused(client, tmp_path, identities, change, kind, said):
    us, _ = identities
    df = dask_frames.from_pandas(pandas.DataFrame({"email": ["a@x.org"], "price": [1.5]}), npartitions=1)
    given = {"on": "email", "role": "receiver", "listen": "127.0.0.1:0", "wait": 0, **shared(tmp_path), **us}
    with pytest.raises(kind, match=re.escape(said)):
        dask.intersect(df, **{**given, **change})


def test_tables_are_joined_where_they_are(client):
    df = dask_frames.from_pandas(pandas.DataFrame({"id": [1]}), npartitions=1)
    with pytest.raises(vesica.UsageError, match="joined on its cluster.*use vesica.dask.intersect"):
        vesica.intersect(df, on="id", role="receiver", connect="127.0.0.1:1")
    for table in (pandas.DataFrame({"id": [1]}), [1], None):
        with pytest.raises(vesica.UsageError, match="is no DataFrame of Dask; use vesica.intersect"):
            dask.intersect(table, on="id", role="receiver", work="/tmp")


def test_a_dry_run_reads_the_table_and_leaves_nothing(client, tmp_path):
    ours, theirs = frames(200, 2)
    settings = {**MAIL, **shared(tmp_path), "payload": ["segment"], "dry_run": True}
    with partner(theirs, on="mail", role="sender", **settings) as them:
        found = dask.dry_run(ours, on="email", role="receiver", expect_peer_items=500, **EMAIL, **shared(tmp_path), **them)
    assert found["ok"] and found["dry_run"] and found["input"]["distinct"] == 200
    assert found["estimate"]["own_items"] == 200 and found["estimate"]["peer_items"] == 500
    assert them.result["ok"] and them.result["input"]["rows"] == 200
    assert not list(tmp_path.iterdir())


def test_rows_match_by_either_of_two_keys(client, tmp_path):
    ours = pandas.DataFrame({"email": [f"u{id}@x.org" for id in range(100)], "phone": [f"t{id}" for id in range(100)]})
    theirs = pandas.DataFrame({"mail": [f"u{id}@x.org" for id in range(0, 100, 3)]})
    theirs["tel"] = [f"t{id + 1}" for id in range(0, 100, 3)]
    ours, theirs = (dask_frames.from_pandas(table, npartitions=2) for table in (ours, theirs))
    with partner(theirs, on="mail", or_on="tel", role="sender", **shared(tmp_path)) as them:
        rows = dask.intersect(ours, on="email", or_on="phone", role="receiver", **shared(tmp_path), **them)
    assert rows.compute().index.tolist() == [id for id in range(100) if id % 3 < 2]


def test_keys_of_several_types_are_refused(client, tmp_path):
    # Dask itself would make texts of them.
    with distributed_config.set({"dataframe.convert-string": False}):
        mixed = pandas.DataFrame({"id": pandas.Series([1, 2, "3", "4"], dtype=object)})
        ours = dask_frames.from_map(lambda start: mixed.iloc[start : start + 2], [0, 2], meta=mixed.iloc[:0])
    theirs = dask_frames.from_pandas(pandas.DataFrame({"id": ["3"]}), npartitions=1)
    with pytest.raises(vesica.InputError, match="column 'id' has values of several types"):
        with partner(theirs, on="id", role="sender", **shared(tmp_path)) as them:
            dask.intersect(ours, on="id", role="receiver", **shared(tmp_path), **them)

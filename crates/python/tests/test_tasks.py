"""Each task against pandas, DuckDB or plain Python; what settings do; reports."""

from __future__ import annotations

import warnings

import duckdb
import pandas
import pytest
from conftest import SEMI_HONEST, both, columns

import vesica
from vesica.testing import partner

ROWS = 600


@pytest.fixture(scope="module")
def tables():
    ours = pandas.DataFrame(columns(ROWS, 20))
    theirs = pandas.DataFrame(columns(ROWS, 21)).drop_duplicates("email").reset_index(drop=True)
    return ours, theirs


def test_cardinality_is_a_number_and_by_group_a_table(tables):
    ours, theirs = tables
    expected = len(set(ours["email"]) & set(theirs["email"]))
    assert both("cardinality", ours, theirs, on="email", **SEMI_HONEST) == expected
    one_each = ours.drop_duplicates("email")
    grouped = both("cardinality", one_each, theirs, on="email", our_group_by="city", their_max_groups=4, **SEMI_HONEST)
    counted = duckdb.sql("SELECT city, count(*) AS n FROM one_each SEMI JOIN theirs USING (email) GROUP BY city").df()
    assert isinstance(grouped, pandas.DataFrame)
    counts = dict(zip(grouped.iloc[:, 0].fillna(""), grouped.iloc[:, -1]))
    assert counts == dict(zip(counted["city"].fillna(""), counted["n"]))


def test_sums_are_those_of_duckdb(tables):
    ours, theirs = tables
    result = both("sum", ours, theirs, on="email", their_payload="amount", **SEMI_HONEST)
    expected = duckdb.sql("SELECT sum(amount) FROM theirs SEMI JOIN ours USING (email)").fetchall()[0][0]
    assert int(result["amount"][0]) == expected


def test_inner_products_are_those_of_duckdb(tables):
    ours, theirs = tables
    ours = ours.drop_duplicates("email")
    result = both(
        "join-and-compute", ours, theirs, on="email", our_payload="amount", their_payload="amount", **SEMI_HONEST
    )
    query = "SELECT sum(ours.amount * theirs.amount) FROM ours JOIN theirs USING (email)"
    assert int(result.iloc[0, -1]) == duckdb.sql(query).fetchall()[0][0]


def test_unions_are_counted_and_summed(tables):
    ours, theirs = tables
    both_sets = set(ours["email"]) | set(theirs["email"])
    assert both("union-cardinality", ours, theirs, on="email", **SEMI_HONEST) == len(both_sets)
    result = both("union-sum", ours, theirs, on="email", their_payload="amount", **SEMI_HONEST)
    expected = theirs[~theirs["email"].isin(ours["email"])]["amount"].sum()
    assert int(result.iloc[0, -1]) == expected


def test_shares_are_bytes_of_both_sides(tables):
    ours, theirs = tables
    settings = {"on": "email", "task": "shares", **SEMI_HONEST}
    with partner(theirs, role="sender", payload="amount", **settings) as them:
        share = vesica.shares(ours, on="email", role="receiver", **SEMI_HONEST, **them)
    assert share.startswith(b"vesica\0S") and them.result.startswith(b"vesica\0S") and share != them.result


def test_both_sides_can_learn():
    with partner([1, 2], role="sender", both_learn=True) as them:
        assert vesica.intersect([2, 3], role="receiver", both_learn=True, **them) == [2]
    assert them.result == [2]


def test_the_sender_gets_nothing_and_either_side_may_be_the_partner():
    with partner([1, 2], role="receiver") as them:
        assert vesica.intersect([2, 3], role="sender", **them) is None
    assert them.result == [2]


def test_normalisers_alternatives_and_clamps():
    ours = [{"mail": " A@X.org", "phone": None}, {"mail": None, "phone": "0221 123456"}, {"mail": "q@x.org"}]
    theirs = [{"mail": "a@x.org", "phone": "+49221123456"}]
    normal = {"mail": ["trim", "email"], "phone": "e164:DE"}
    assert both("intersect", ours, theirs, on="mail", or_on="phone", normalise=normal) == ours[:2]
    amounts = {"id": [1, 2], "spent, net": ["10.50", "999.99"]}
    result = both(
        "sum",
        [1, 2],
        amounts,
        their_on="id",
        their_payload=["spent, net"],
        their_scale={"spent, net": 2},
        their_clamp={"spent, net": (0, 500)},
        **SEMI_HONEST,
    )
    assert str(result[0]["spent, net"]) == "510.50"


def test_a_report_comes_along_when_asked_for():
    with partner([1, 2], role="sender", pad_to=10) as them:
        result, report = vesica.intersect([2], role="receiver", with_report=True, **them)
    assert (result, report["peer_items"], report["matched_keys"]) == ([2], 10, 1)
    assert them.report["role"] == "sender" and them.report["matched_keys"] is None


class Bar:
    """What a run needs of a bar of tqdm."""

    def __init__(self):
        self.n, self.total, self.is_closed = 0, 100, False

    def reset(self, total):
        self.n, self.total = 0, total

    def set_description_str(self, text):
        pass

    set_postfix_str = set_description_str

    def close(self):
        self.is_closed = True


def test_a_bar_is_full_where_a_run_has_ended_well(monkeypatch):
    bar = Bar()
    monkeypatch.setattr(vesica._events, "_bar", lambda is_wanted: bar)
    with partner([2, 3], role="sender") as them:
        assert vesica.intersect([1, 2], role="receiver", progress=True, **them) == [2]
    assert bar.is_closed and bar.n == bar.total
    bar.is_closed = False
    with pytest.raises(vesica.Error):
        vesica.intersect(
            [1, 2], role="receiver", progress=True, connect="127.0.0.1:1", wait=0.1, insecure_plaintext=True
        )
    assert bar.is_closed and bar.n < bar.total


def test_progress_is_told_to_a_function():
    seen = []
    with partner(range(20_000), role="sender") as them:
        vesica.intersect(range(10_000), role="receiver", progress=seen.append, **them)
    stages = [event["stage"] for event in seen if event["event"] == "stage"]
    assert stages[0] == "waiting" and {"reading", "running", "writing"} <= set(stages)


def test_a_dry_run_reads_the_table_and_computes_nothing():
    with partner([1, 2], role="sender", dry_run=True) as them:
        found = vesica.dry_run([2, 3], role="receiver", expect_peer_items=1000, **them)
    assert found["ok"] and found["estimate"]["peer_items"] == 1000 and found["input"]["distinct"] == 2


def test_nothing_that_matches_warns_and_names_the_mend():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert both("intersect", pandas.DataFrame({"id": [1.0, 2.0]}).astype(str), [1, 2], our_on="id").empty
    texts = [str(warning.message) for warning in caught if issubclass(warning.category, vesica.VesicaWarning)]
    assert any("normalise=" in text for text in texts), texts


def test_empty_frames_give_empty_results_and_a_warning():
    some, none = pandas.DataFrame({"id": ["a", "b"], "n": [1, 2]}), pandas.DataFrame({"id": [], "n": []}, dtype=str)
    none["n"] = none["n"].astype("int64")
    for ours, theirs in [(none, some), (some, none), (none, none)]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = both("intersect", ours, theirs, on="id")
            count = both("cardinality", ours, theirs, on="id", **SEMI_HONEST)
        assert result.empty and list(result.columns) == ["id", "n"] and count == 0
        assert any("the table has no rows" in str(warning.message) for warning in told)


def test_two_to_the_fourteenth_keys_with_every_overlap():
    count = 2**14
    for common in (0, 1, count - 1, count):
        result = both("intersect", range(count), range(count - common, 2 * count - common))
        assert result == list(range(count - common, count))


def test_a_join_in_buckets_is_the_same_join():
    with partner(range(0, 3000, 2), role="sender", buckets=8, **SEMI_HONEST) as them:
        result, report = vesica.intersect(
            range(0, 3000, 3), role="receiver", buckets=8, with_report=True, **SEMI_HONEST, **them
        )
    assert result == list(range(0, 3000, 6)) and report["buckets"] == 8


def test_a_join_in_a_work_folder_is_the_same_join_and_leaves_nothing(tmp_path):
    theirs = pandas.DataFrame({"id": range(0, 3000, 2), "n": range(1500)})
    with partner(theirs, on="id", role="sender", payload=["n"], buckets="auto", work=tmp_path) as them:
        result = vesica.intersect(
            pandas.DataFrame({"id": [*range(0, 3000, 3)] * 2}), on="id", role="receiver", buckets="auto", work=str(tmp_path), **them
        )
    assert list(result["id"]) == [*range(0, 3000, 6)] * 2
    assert list(result["n"]) == [*range(0, 1500, 3)] * 2
    assert not list(tmp_path.iterdir())
    with pytest.raises(vesica.UsageError, match="work= without buckets="):
        vesica.intersect([1], role="receiver", work=tmp_path, insecure_plaintext=True, connect="localhost:1")


def test_a_join_that_is_kept_in_a_record_leaves_none_when_it_has_ended(tmp_path):
    kept = {"buckets": 4, "work": tmp_path, "resume": True, **SEMI_HONEST}
    with partner(range(0, 3000, 2), role="sender", **kept) as them:
        assert vesica.intersect(range(0, 3000, 3), role="receiver", **kept, **them) == list(range(0, 3000, 6))
    assert not list(tmp_path.iterdir())


def test_plans_protocols_and_checks():
    plan = vesica.plan(sender_items=1e5, receiver_items=2e5, link="100mbit,40ms", payload_bytes=8)
    assert plan["ok"] and plan["receiver_items"] == 200_000
    assert {"vole-fast", "prty20"} <= {protocol["id"] for protocol in vesica.protocols()}
    profile = vesica.check(pandas.DataFrame({"id": ["1", " 2", None]}), on="id", payload=["id"])
    assert profile["keys"]["rows"] == 3 and profile["keys"]["null_rows"] == 1

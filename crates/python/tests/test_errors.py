"""Mistakes on either side: typed errors, with the fault and the mend, and no half result."""

from __future__ import annotations

import datetime
import decimal
import ipaddress
import multiprocessing
import pickle
import re
import socket
import threading
import traceback
import uuid
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import both

import vesica
from vesica import _errors, _flags
from vesica.testing import partner

ROOT = Path(__file__).parents[3]

LOOPBACK = {"connect": "127.0.0.1:1", "insecure_plaintext": True, "role": "receiver", "wait": 1}


def refused(kind, *fragments, table, **arguments):
    with pytest.raises(kind) as caught:
        vesica.intersect(table, **{**LOOPBACK, **arguments})
    assert all(fragment in str(caught.value) for fragment in fragments), str(caught.value)
    assert caught.value.fault and caught.value.mend
    return caught.value


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    for table in [pandas.DataFrame({"email": ["a"]}), polars.DataFrame({"email": ["a"]}), {"email": ["a"]}]:
        error = refused(vesica.InputError, "mail", "did you mean `email`", table=table, on="mail")
        assert isinstance(error, ValueError)


def test_float_keys_are_refused():
    for table in [pandas.DataFrame({"id": [1.5]}), polars.DataFrame({"id": [1.5]}), {"id": [1.5]}]:
        refused(vesica.Error, "id", table=table, on="id")


def test_a_column_of_mixed_objects_is_refused_with_its_types():
    refused(vesica.InputError, "id", "int", "str", table=pandas.DataFrame({"id": [1, "1"]}), on="id")
    refused(vesica.InputError, "row 1 has int", "row 3 has str", table=[1, 2, "3"])
    refused(vesica.InputError, "row 2", table=[("a", 1), ("b",)])
    refused(vesica.InputError, "64 bits", table=[2**70])
    refused(vesica.InputError, "38 digits", table=[decimal.Decimal("NaN")])
    refused(vesica.InputError, "38 digits", table=[decimal.Decimal(10) ** 40])


def test_tables_without_a_usable_key_are_refused():
    for table in [[None], {"id": [None]}, pandas.DataFrame({"id": [None]}, dtype=str), polars.DataFrame({"id": [""]})]:
        refused(vesica.InputError, "no row", table=table, on=None if isinstance(table, list) else "id")


def test_columns_whose_values_mean_more_than_arrow_says_are_refused():
    period = pandas.DataFrame({"id": pandas.period_range("2020-01", periods=1, freq="M")})
    refused(vesica.InputError, "id", "period", table=period, on="id")
    refused(vesica.InputError, "id", "uuid", table=pandas.DataFrame({"id": [uuid.UUID(int=7)]}), on="id")
    refused(vesica.InputError, "Object", table=polars.DataFrame({"id": pl_object()}), on="id")
    refused(vesica.InputError, "Int128", table=polars.DataFrame({"id": [1]}, {"id": polars.Int128}), on="id")
    refused(vesica.InputError, "BIT", table=duckdb.sql("SELECT 1 AS id, '01'::BIT AS b"), on="id")
    aware, naive = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), datetime.datetime(2020, 1, 1)
    mixed = pandas.DataFrame({"id": pandas.Series([aware, naive], dtype=object)})
    refused(vesica.InputError, "with a zone", "without a zone", table=mixed, on="id")
    refused(vesica.InputError, "nanoseconds", table=[pandas.Timestamp("2020-01-01 00:00:00.123456789")])


def pl_object():
    return polars.Series([uuid.UUID(int=7)], dtype=polars.Object)


def test_types_that_cannot_be_keys_are_refused():
    nested = pyarrow.table({"id": [[1, 2], [3]]})
    refused(vesica.Error, "id", table=nested, on="id")
    refused(vesica.Error, table=pandas.DataFrame({"id": [{"a": 1}]}), on="id")


def test_arguments_are_checked_before_anything_is_sent():
    refused(vesica.UsageError, "no argument payloads=; did you mean payload=?", table=[1], payloads="x")
    refused(vesica.UsageError, "'middle'", 'role="sender"', table=[1], role="middle")
    refused(vesica.UsageError, 'did you mean "receiver"?', table=[1], role="reciever")
    refused(vesica.UsageError, "no argument conect=; did you mean connect=?", table=[1], conect="host:1")
    refused(vesica.UsageError, "no argument colour=; help()", table=[1], colour="red")
    refused(vesica.UsageError, "max_groups= is for the sender", table=[1], max_groups=3)
    refused(vesica.UsageError, "security=", "possible values", "did you mean malicious?", table=[1], security="malicous")
    refused(vesica.UsageError, "join=", "did you mean inner?", table=[1], join="iner")
    refused(vesica.UsageError, "key column", table={"id": [1]})
    refused(vesica.UsageError, "list of keys", table=[1], on="id")
    refused(vesica.UsageError, "security", table=[1], security="paranoid")
    refused(vesica.UsageError, "int", table=17)
    refused(vesica.UsageError, "8 names no column", table=pandas.DataFrame({7: [1]}), on=8)
    refused(vesica.UsageError, "a bytes names no column", table={"a": [1]}, on=b"a")
    refused(vesica.InputError, "row 2", table=[{"id": 1}, None], on="id")
    refused(vesica.InputError, "lengths", table={"a": [1], "b": []}, on="a")
    refused(vesica.UsageError, "no argument input=", table=[1], input="x.csv")
    refused(vesica.UsageError, "no argument format=", table=[1], format="csv")
    refused(vesica.UsageError, "did you mean security=", table=[1], securty="malicious")
    refused(vesica.UsageError, "no event", table=[1], cancel=True)
    refused(vesica.UsageError, "plain", table=[1], progress="plain")
    refused(vesica.UsageError, "dictionary", table=[1], normalise="trim")
    refused(vesica.UsageError, "a Series is one column; omit on=", table=pandas.Series([1]), on="id")
    refused(vesica.UsageError, "names no column", table={"a": [1]}, on={"a"})
    refused(vesica.UsageError, "no list", table={"a": 1}, on="a")
    refused(vesica.UsageError, "no str", table=[{1: "a"}], on="1")
    with pytest.raises(vesica.UsageError, match="no key column"):
        vesica.check({"a": [1]})
    with pytest.raises(vesica.UsageError, match="sender_items="):
        vesica.plan(sender_items=float("nan"), receiver_items=1)
    with pytest.raises(vesica.UsageError, match="peer="):
        vesica.intersect([1], role="receiver", connect="127.0.0.1:1")


def test_a_partner_who_does_not_come():
    assert isinstance(refused(vesica.PeerAbsent, "wait longer with wait=", table=[1]), ConnectionError)


def test_both_sides_hear_how_their_settings_differ():
    with pytest.raises(vesica.SettingsDiffer, match="security") as theirs:
        with partner([1], role="sender", security="semi-honest") as them:
            with pytest.raises(vesica.SettingsDiffer, match="security"):
                vesica.intersect([1], role="receiver", **them)
    assert theirs.value.exit_code == 7


def test_the_other_identity_is_refused(tmp_path):
    other = vesica.new_identity(tmp_path / "other.key")
    with pytest.raises(vesica.Error):
        with partner([1], role="sender", wait=3) as them:
            with pytest.raises(vesica.IdentityError):
                vesica.intersect([1], role="receiver", **{**them, "peer": other})
    with pytest.raises(vesica.IdentityError):
        vesica.new_identity(tmp_path / "other.key")


def test_a_partner_that_talks_nonsense_or_hangs_up():
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b""):
        with socket.create_server(("127.0.0.1", 0)) as server:

            def play():
                connection, _ = server.accept()
                with connection:
                    connection.sendall(answer)

            thread = threading.Thread(target=play)
            thread.start()
            refused(vesica.Error, table=[1], connect="127.0.0.1:%d" % server.getsockname()[1])
            thread.join()


def test_a_callback_that_fails_ends_the_run_on_both_sides():
    def fail(event):
        if event["stage"] == "running":
            raise ZeroDivisionError("mine")

    with pytest.raises(vesica.Error):
        with partner(range(1000), role="sender") as them:
            with pytest.raises(ZeroDivisionError, match="mine"):
                vesica.intersect(range(1000), role="receiver", progress=fail, **them)


def test_a_partner_that_nobody_meets_ends_with_its_block():
    with pytest.raises(RuntimeError, match="of the block"):
        with partner([1], role="sender", wait=600):
            raise RuntimeError("of the block")


def test_the_cause_on_the_other_side_shows_in_the_traceback():
    with pytest.raises(vesica.PeerFailed) as caught:
        both("intersect", [1], {"id": [1.5]}, their_on="id")
    assert isinstance(caught.value.__cause__, vesica.Error) and "floats" in str(caught.value.__cause__)


def test_errors_travel_between_processes():
    error = refused(vesica.PeerAbsent, table=[1])
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.exit_code) == (vesica.PeerAbsent, str(error), 5)


def _join_after_fork(queue):
    try:
        queue.put(vesica.plan(sender_items=10, receiver_items=10)["ok"])
    except vesica.Refused as error:
        queue.put(str(error))


def test_a_forked_process_is_told_how_to_start_instead_of_hanging():
    assert both("intersect", [1, 2], [2]) == [2]
    for method, expected in (("fork", "spawn"), ("spawn", "True")):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=_join_after_fork, args=(queue,))
        process.start()
        assert expected in str(queue.get(timeout=120))
        process.join()


def test_no_error_holds_a_key():
    secret = "very-secret-key@example.org"
    for table in [pandas.DataFrame({"id": [secret, 5]}), [secret, 5], [{"id": secret}, {"id": 7}]]:
        on = "id" if not (isinstance(table, list) and table[0] == secret) else None
        error = refused(vesica.InputError, table=table, on=on)
        assert secret not in str(error)
    secrets = [ipaddress.ip_address("10.9.8.7"), ["10.9.8.7"], {"a": "10.9.8.7"}, "10.9.8.7\ud800", 2**80]
    for value in secrets:
        for table in (pandas.DataFrame({"id": pandas.Series([value], dtype=object)}), {"id": [value]}):
            with pytest.raises(vesica.Error) as caught:
                vesica.intersect(table, on="id", **LOOPBACK)
            chain, error = [], caught.value
            while error is not None:
                chain.append(repr(error))
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
            assert not any("10.9.8.7" in text or str(2**80) in text for text in chain), chain


def test_an_error_ends_at_the_call():
    """The traceback has the caller's line and one of vesica's, whatever went wrong and wherever."""
    with pytest.raises(vesica.SettingsDiffer), partner([1], role="sender", security="semi-honest", wait=20) as them:
        calls = [
            lambda: vesica.intersect([1], role="middle"),
            lambda: vesica.intersect([1], role="receiver", conect="host:1"),
            lambda: vesica.intersect(pandas.DataFrame({"id": [1, "1"]}), on="id", **LOOPBACK),
            lambda: vesica.intersect([], **LOOPBACK),
            lambda: vesica.intersect([1], **LOOPBACK),
            lambda: vesica.check({"a": [1]}, on="b"),
            lambda: vesica.plan(sender_items=1, receiver_items=1, link="fast"),
            lambda: vesica.protocols("none such"),
            lambda: vesica.receipt("none such"),
            lambda: vesica.Server([1], listen="127.0.0.1:0"),
            lambda: vesica.Client(conect="host:1"),
            lambda: vesica.Client(connect="127.0.0.1:1", insecure_plaintext=True, wait=0).query([1]),
            lambda: vesica.intersect([1], role="receiver", **them),
        ]
        for call in calls:
            try:
                call()
            except vesica.Error as error:
                lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
                modules = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
                assert len(modules) <= 3 and len(lines) <= 12, lines
                assert "--" not in re.sub("`vesica [^`]*`", "", str(error)), error
            else:
                raise AssertionError("it was not refused")


def test_texts_of_the_command_line_speak_python():
    for said, read in [
        ("say --security semi-honest on both sides", 'say security="semi-honest" on both sides'),
        ("omit --payload, or say --task union-sum", "omit payload=, or say vesica.union_sum"),
        ("--pad-to 3 is less than the 5 distinct keys", "pad_to=3 is less than the 5 distinct keys"),
        ("raise --max-peer-items, if", "raise max_peer_items=, if"),
        ("number of --key columns; --or-key number 2", "number of on= columns; or_on= number 2"),
        ("--normalise 'born=date:%d.%m.%Y'", 'normalise={"born": "date:%d.%m.%Y"}'),
        ("with --clamp COLUMN=LEAST..MOST", 'with clamp={"COLUMN": (LEAST, MOST)}'),
        ("invalid value 'x' for '--security <SECURITY>'", "invalid value 'x' for security="),
        ("see `vesica check --show-keys 0`", "see `vesica check --show-keys 0`"),
        ("name a file with --output FILE", "name a file with --output FILE"),
        ("a--b and -- are left", "a--b and -- are left"),
    ]:
        assert _errors.in_python(said) == read


def test_no_text_of_the_engine_has_a_flag_that_python_does_not_know():
    """Each flag in the engine's texts is an argument of Python, or one of files that Python does not say."""
    known = {name for command in ("receive", "send", "query", "serve", "plan", "check") for name in _flags.known(command)}
    texts = "".join(path.read_text() for folder in ("vesica", "data") for path in (ROOT / "crates" / folder / "src").rglob("*.rs"))
    # Flags of LibreOffice, in what an error advises, and of a relay, which Python does not run.
    others = {"headless", "convert-to", "dials-per-minute", "max-connections", "bytes-per-ticket"}
    found = set(re.findall(r'"[^"\n]*?(?<![\w`-])--([a-z][a-z-]+)', texts)) - _errors.NO_ARGUMENTS - others
    assert len(found) > 30
    assert {name for name in map(_errors.argument, found)} <= known, found


def test_an_encrypted_identity_opens_with_its_passphrase_alone_and_asks_nobody(tmp_path):
    for name, text in (("pass", "correct horse\n"), ("wrong", "wrong horse\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    key = tmp_path / "us.key"
    line = vesica.new_identity(key, passphrase_file=tmp_path / "pass")
    assert key.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert vesica.own_identity(key, passphrase_file=tmp_path / "pass") == line
    with pytest.raises(vesica.IdentityError, match="the passphrase of .*us.key is wrong"):
        vesica.own_identity(key, tmp_path / "wrong")
    with pytest.raises(vesica.IdentityError, match="is encrypted"):
        vesica.own_identity(key)


def test_a_key_is_replaced_revoked_and_encrypted_as_by_the_command(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).write_text(f"{name} horse\n")
        (tmp_path / name).chmod(0o600)
    old, new, them = (tmp_path / name for name in ("us.key", "us-2.key", "us.pub"))
    first, second = tmp_path / "first", tmp_path / "second"
    line = vesica.new_identity(old, passphrase_file=first)
    # Nobody gave it another passphrase.
    rotated = vesica.rotate_identity(new, datetime.date(2999, 12, 31), path=old, passphrase_file=first)
    assert vesica.own_identity(new, first) == rotated != line
    with pytest.raises(vesica.UsageError, match="not a day"):
        vesica.rotate_identity(tmp_path / "us-3.key", "soon", path=old, passphrase_file=first)
    assert vesica.accept_identity(tmp_path / "us-2.succession", peer=them) == rotated
    shown, partner = vesica.show_identity(old), vesica.show_identity(peer=them)
    assert (shown["public_line"], partner["public_line"]) == (line, rotated)
    assert shown["private_key"] == {"file": str(old), "is_encrypted": True, "unchecked": str(them)}
    assert [other["fingerprint"] for other in shown["replaced_by"]] == [partner["fingerprint"]]
    assert [other["until"] for other in partner["replaces"]] == ["2999-12-31"]
    vesica.change_passphrase(new, new_passphrase_file=second, passphrase_file=first)
    with pytest.raises(vesica.IdentityError, match="the passphrase of .* is wrong"):
        vesica.own_identity(new, first)
    vesica.change_passphrase(new, new_passphrase_file=None, passphrase_file=second)
    assert vesica.own_identity(new) == rotated and vesica.show_identity(new)["private_key"]["is_encrypted"] is False
    revocation = vesica.revoke_identity(new, tmp_path / "us-2.revocation")
    assert (tmp_path / "us-2.revocation").read_text().startswith(revocation + " ")
    with pytest.raises(vesica.IdentityError, match="exists already"):
        vesica.revoke_identity(new, tmp_path / "us-2.revocation")

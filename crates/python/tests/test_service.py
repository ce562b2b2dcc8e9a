"""The recurrent service from Python."""

from __future__ import annotations

import pandas
import pytest

import vesica


def test_a_server_answers_with_the_columns_of_its_table(tmp_path, identities):
    us, _ = identities
    (tmp_path / "clients").write_text((tmp_path / "us.pub").read_text())
    table = pandas.DataFrame({"hash": [f"h{i}" for i in range(500)], "risk": [i % 7 for i in range(500)]})
    settings = {"identity": tmp_path / "them.key", "clients": tmp_path / "clients", "listen": "127.0.0.1:0", "quota": "1000/day"}
    settings |= {"state": tmp_path / "deny.state", "run_log": tmp_path / "served.log"}
    with vesica.Server(table, on="hash", payload="risk", **settings) as server:
        client = vesica.Client(connect=server.address, state=tmp_path / "state", run_log=tmp_path / "asked.log", **us)
        asked = pandas.DataFrame({"hash": ["h3", "no", "h12"]}, index=[7, 8, 9])
        found, report = client.query(asked, on="hash", with_report=True)
        assert found.index.tolist() == [7, 9] and found["risk"].tolist() == [3, 5]
        assert report["matched_keys"] == 2
        assert client.query([f"h{i}" for i in range(3)])[0]["risk"] == 0
        assert server.is_running and server.protocol
    assert not server.is_running
    # Two lines of each query, and of each conversation.
    assert [len((tmp_path / log).read_text().splitlines()) for log in ("served.log", "asked.log")] == [4, 4]
    for call in (server.rotate, lambda: server.reload(table)):
        with pytest.raises(vesica.Refused, match="stopped"):
            call()
    # The address and the state file are free.
    with vesica.Server(table, on="hash", payload="risk", **{**settings, "listen": server.address}) as again:
        assert client.query(["h1"])[0]["risk"] == 1 and again.address == server.address


def test_a_server_takes_new_rows_and_a_new_key(tmp_path):
    settings = {"listen": "127.0.0.1:0", "insecure_plaintext": True, "quota": "1000/day"}
    with vesica.Server([1, 2, 3], state=tmp_path / "state", **settings) as server:
        client = vesica.Client(connect=server.address, insecure_plaintext=True)
        assert client.query([3, 4]) == [3]
        assert server.reload([1, 2, 3, 4]) == (3, 4)
        assert client.query([3, 4]) == [3, 4]
        server.rotate()
        assert client.query([4, 5]) == [4]
        with pytest.raises(vesica.Error):
            server.reload({"other": [1]})
        assert client.query([4, 5]) == [4]


def test_settings_of_a_server_are_checked():
    with pytest.raises(vesica.UsageError, match="did you mean quota="):
        vesica.Server([1], listen="127.0.0.1:0", insecure_plaintext=True, quot="5/day")
    with pytest.raises(vesica.PeerAbsent):
        vesica.Client(connect="127.0.0.1:1", insecure_plaintext=True, wait=1).query([1])


def test_a_table_that_can_be_read_once_is_read_once(tmp_path):
    settings = {"listen": "127.0.0.1:0", "insecure_plaintext": True, "quota": "1000/day"}
    with vesica.Server((number for number in range(9)), state=tmp_path / "state", **settings) as server:
        assert vesica.Client(connect=server.address, insecure_plaintext=True).query([8, 9]) == [8]

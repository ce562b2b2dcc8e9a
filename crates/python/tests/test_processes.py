"""Python on one side and the command on the other, in two processes; signals; files of partners; the command itself."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pandas
import pytest

import vesica
from vesica import aio
from vesica.testing import partner

COMMAND = [sys.executable, "-m", "vesica"]


def start(*arguments, **options):
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run_python(code, **options):
    return start(sys.executable, "-c", textwrap.dedent(code), **options)


def first_address(stream):
    for line in stream:
        found = re.search(r"listening on (\S+)", line)
        if found:
            return found.group(1)
    raise AssertionError("it did not listen")


def test_python_joins_with_the_command(tmp_path, identities):
    us, _ = identities
    theirs = pandas.DataFrame({"mail": [f"u{i}@x.org" for i in range(0, 3000, 3)], "points": range(1000)})
    theirs.to_parquet(tmp_path / "theirs.parquet")
    sender = start(
        *COMMAND,
        *("send", "--input", "theirs.parquet", "--key", "mail", "--payload", "points", "--listen", "127.0.0.1:0"),
        *("--identity", "them.key", "--peer", "us.pub", "--receipt", "theirs.json"),
        cwd=tmp_path,
    )
    ours = pandas.DataFrame({"email": [f"u{i}@x.org" for i in range(0, 3000, 2)]})
    result = vesica.intersect(
        ours, on="email", role="receiver", connect=first_address(sender.stderr), receipt=tmp_path / "ours.json", **us
    )
    assert sender.wait(60) == 0
    expected = ours.merge(theirs, left_on="email", right_on="mail")
    assert result["email"].tolist() == expected["email"].tolist()
    assert result["points"].tolist() == expected["points"].tolist()
    checked = subprocess.run([*COMMAND, "receipt", str(tmp_path / "ours.json"), "--peer", str(tmp_path / "them.pub")])
    assert checked.returncode == 0


def test_partners_have_names_and_defaults_as_on_the_command_line(tmp_path, identities, monkeypatch):
    us, _ = identities
    (tmp_path / "peers.toml").write_text(
        '[acme]\nkey = "them.pub"\naddress = "127.0.0.1:1"\ntasks = ["intersect"]\n\n[acme.defaults]\nwait = "1s"\n'
    )
    monkeypatch.setenv("VESICA_PEERS", str(tmp_path / "peers.toml"))
    monkeypatch.setenv("VESICA_IDENTITY", str(tmp_path / "us.key"))
    with pytest.raises(vesica.PeerAbsent, match="1 s"):
        vesica.intersect([1], role="receiver", peer="acme")
    with pytest.raises(vesica.Error, match="the task is cardinality"):
        vesica.cardinality([1], role="receiver", peer="acme", security="semi-honest")
    with pytest.raises(vesica.IdentityError, match="acme"):
        vesica.intersect([1], role="receiver", peer="acne")


def test_ctrl_c_ends_a_wait():
    waiting = run_python(
        """
        import sys, vesica
        def say(event):
            print(event["stage"], file=sys.stderr, flush=True)
        vesica.intersect([1], role="receiver", listen="127.0.0.1:0", insecure_plaintext=True, wait=600, progress=say)
        """
    )
    while "waiting" not in waiting.stderr.readline():
        pass
    waiting.send_signal(signal.SIGINT)
    # Much sooner than the wait of the run.
    _, errors = waiting.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors and waiting.returncode != 0


def test_ctrl_c_in_a_run_tells_the_partner(tmp_path, identities):
    us, _ = identities
    running = run_python(
        f"""
        import sys, vesica
        def say(event):
            print(event["stage"], file=sys.stderr, flush=True)
        vesica._tasks._run("intersect", range(1_000_000), None, "sender", dict(
            listen="127.0.0.1:0", identity={str(tmp_path / "them.key")!r}, peer={str(tmp_path / "us.pub")!r},
            progress=say), lambda address: print("listening on", address, file=sys.stderr, flush=True))
        """
    )
    address = first_address(running.stderr)

    def interrupt(event):
        if event["stage"] == "running":
            running.send_signal(signal.SIGINT)

    with pytest.raises((vesica.PeerFailed, vesica.LinkError)) as caught:
        vesica.intersect(range(1_000_000), role="receiver", connect=address, progress=interrupt, **us)
    assert "interrupted" in str(caught.value) or "connection" in str(caught.value)
    running.communicate(timeout=60)
    assert running.returncode != 0


def test_a_partner_that_is_killed_is_an_error_and_no_hang(tmp_path, identities):
    us, _ = identities
    (tmp_path / "many.csv").write_text("id\n" + "\n".join(map(str, range(1_000_000))) + "\n")
    sender = start(
        *COMMAND,
        *("send", "--input", "many.csv", "--key", "id", "--listen", "127.0.0.1:0"),
        *("--identity", "them.key", "--peer", "us.pub"),
        cwd=tmp_path,
    )

    def kill(event):
        if event["stage"] == "running":
            sender.kill()

    with pytest.raises(vesica.LinkError) as caught:
        vesica.intersect(
            range(1_000_000), role="receiver", connect=first_address(sender.stderr), progress=kill, **us
        )
    assert caught.value.mend
    sender.wait(60)


@pytest.mark.parametrize("when", ["waiting", "running"])
def test_an_event_cancels_a_run_from_another_thread(when):
    cancel = threading.Event()

    def watch(event):
        if event["stage"] == when:
            threading.Thread(target=cancel.set).start()

    keys, began = range(500_000), time.monotonic()
    given = {"role": "receiver", "progress": watch, "cancel": cancel}
    if when == "waiting":
        with pytest.raises(vesica.Cancelled, match="the run was cancelled"):
            vesica.intersect(keys, listen="127.0.0.1:0", insecure_plaintext=True, wait=600, **given)
    else:
        with pytest.raises((vesica.PeerFailed, vesica.LinkError)):
            with partner(keys, role="sender") as them:
                with pytest.raises(vesica.Cancelled):
                    vesica.intersect(keys, **given, **them)
    assert time.monotonic() - began < 60


def test_a_task_of_asyncio_is_cancelled_with_its_run():
    async def program():
        stages = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def watch(event):
            loop.call_soon_threadsafe(stages.put_nowait, event["stage"])

        given = {"insecure_plaintext": True, "wait": 600, "progress": watch}
        task = asyncio.create_task(vesica.to_thread(vesica.intersect, [1], role="receiver", listen="127.0.0.1:0", **given))
        assert await stages.get() == "waiting"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The run has ended, and with it its thread.
        for thread in threading.enumerate():
            if thread.name.startswith("vesica"):
                thread.join(10)
                assert not thread.is_alive()

    asyncio.run(program())


def test_both_sides_in_one_loop_of_asyncio(identities):
    us, them = identities

    async def program():
        with socket.create_server(("127.0.0.1", 0)) as probe:
            address = "127.0.0.1:%d" % probe.getsockname()[1]
        return await asyncio.gather(
            vesica.to_thread(vesica.intersect, [1, 2], role="receiver", listen=address, **us),
            vesica.to_thread(vesica.intersect, [2, 3], role="sender", connect=address, **them),
        )

    assert asyncio.run(program()) == [[2], None]
    with pytest.raises(vesica.PeerAbsent):
        asyncio.run(vesica.to_thread(vesica.intersect, [1], role="sender", connect="127.0.0.1:1", wait=0, **us))


def test_every_task_can_be_awaited(identities):
    names = {name for name in aio.__all__ if name != "Client"}
    tasks = {name for name in vesica.__all__ if getattr(vesica, name) in vars(vesica._tasks).values() and name.islower()}
    assert names == tasks - {"dry_run"}
    assert all(getattr(aio, name).__doc__ == getattr(vesica, name).__doc__ for name in names)
    us, them = identities

    async def program():
        with socket.create_server(("127.0.0.1", 0)) as probe:
            address = "127.0.0.1:%d" % probe.getsockname()[1]
        given = {"security": "semi-honest"}
        return await asyncio.gather(
            aio.cardinality([1, 2, 3], role="receiver", listen=address, **given, **us),
            aio.cardinality([2, 3], role="sender", connect=address, **given, **them),
        )

    counted, nothing = asyncio.run(program())
    assert counted == 2 and nothing is None


def test_a_client_awaits_several_answers(tmp_path):
    async def program(address):
        client = aio.Client(connect=address, insecure_plaintext=True)
        answers = await asyncio.gather(client.query([1, 9]), client.query([2, 3, 9]))
        with pytest.raises(vesica.UsageError, match="did you mean"):
            await client.query([1], progres=None)
        return answers

    settings = {"listen": "127.0.0.1:0", "insecure_plaintext": True, "quota": "1000/day", "state": tmp_path / "state"}
    with vesica.Server([1, 2, 3], **settings) as server:
        assert asyncio.run(program(server.address)) == [[1], [2, 3]]


def test_a_receipt_is_read_as_the_command_reads_it(tmp_path):
    path = tmp_path / "run.json"
    with partner([1, 2], role="sender") as them:
        vesica.intersect([2, 3], role="receiver", receipt=path, **them)
        peer = them["peer"]
    found = vesica.receipt(path, peer=peer)
    shown = subprocess.run([*COMMAND, "receipt", "--json", str(path)], capture_output=True, text=True, check=True)
    assert found == json.loads(shown.stdout) and found["receipt"]["statement"]["sender_key"] == peer
    with pytest.raises(vesica.IdentityError, match="neither side"):
        vesica.receipt(path, peer=vesica.new_identity(tmp_path / "other.key"))
    path.write_text(path.read_text().replace('"sender_items": 2', '"sender_items": 3'))
    with pytest.raises(vesica.IdentityError, match="WRONG"):
        vesica.receipt(path)
    with pytest.raises(vesica.InputError, match="none such"):
        vesica.receipt("none such")
    with pytest.raises(vesica.IdentityError):
        vesica.receipt(path, commits=tmp_path)


def test_other_threads_go_on_while_a_run_waits():
    ticking = run_python(
        """
        import threading, time, vesica
        ticks = []
        def tick():
            for _ in range(20):
                ticks.append(1)
                time.sleep(0.02)
        thread = threading.Thread(target=tick)
        thread.start()
        try:
            vesica.intersect([1], role="receiver", connect="127.0.0.1:1", insecure_plaintext=True, wait=2)
        except vesica.PeerAbsent:
            print(len(ticks) > 3)
        """
    )
    out, errors = ticking.communicate(timeout=60)
    assert out.strip() == "True", errors


def test_the_package_brings_the_command(tmp_path):
    program = Path(sys.executable).with_name("vesica")
    shown = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert shown.stdout == f"vesica {vesica.__version__}\n"
    wrong = subprocess.run([program, "receive", "--inptu", "x"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--input" in wrong.stderr
    demo = subprocess.run([program, "demo"], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert demo.returncode == 0, demo.stderr


def test_the_command_in_python_ends_on_a_signal_as_it_does_alone(tmp_path):
    program = Path(sys.executable).with_name("vesica")
    (tmp_path / "a.csv").write_text("id\n1\n")
    waiting = start(
        program,
        *("receive", "--input", "a.csv", "--key", "id", "--output", "b.csv", "--listen", "127.0.0.1:0"),
        "--insecure-plaintext",
        cwd=tmp_path,
    )
    first_address(waiting.stderr)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(30) == 130
    assert "Traceback" not in waiting.stderr.read()
    assert not (tmp_path / "b.csv").exists()


def test_a_notebook_needs_no_environment(tmp_path):
    alone = run_python(
        "import vesica; print(vesica.check(['a'], show_keys=0)['keys']['rows'])",
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    out, errors = alone.communicate(timeout=60)
    assert out.strip() == "1", errors

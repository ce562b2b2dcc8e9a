"""The schemas of `vesica config --schema`: what the command takes or writes is valid, and other values are not."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "vesica"]
SECTIONS = {"receiver", "sender"}


def start(*arguments, cwd):
    return subprocess.Popen([*COMMAND, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def schema(kind):
    printed = subprocess.run([*COMMAND, "config", "--schema", kind], capture_output=True, text=True, check=True)
    return json.loads(printed.stdout)


@pytest.fixture(scope="module")
def validators():
    kinds = ["job", "peers", "policy", "report", "query-report", "receipt", "log-line", "progress-line"]
    made = {}
    for kind in kinds:
        jsonschema.Draft202012Validator.check_schema(schema(kind))
        made[kind] = jsonschema.Draft202012Validator(schema(kind))
    return made


def faults(validator, value):
    """Places of faults with what is wrong there."""
    return {"/".join(map(str, fault.absolute_path)): fault.message for fault in validator.iter_errors(value)}


def kind_of(table):
    """What a block of TOML in the documents is; None for what vesica does not read as settings."""
    if SECTIONS & table.keys():
        return "job"
    tables = [value for value in table.values() if isinstance(value, dict)]
    if any("key" in value and "address" in value or "policy" in value for value in tables):
        return "peers"
    return None


def test_examples_of_documents_are_valid(validators):
    tomllib = pytest.importorskip("tomllib")
    found = {"job": 0, "peers": 0}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        for block in re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            table = tomllib.loads(block)
            if kind := kind_of(table):
                assert faults(validators[kind], table) == {}, (page, block)
                found[kind] += 1
    assert found["job"] >= 3 and found["peers"] >= 3, found


@pytest.mark.parametrize("task", ["intersect", "union", "cardinality", "join-and-compute", "union-sum", "shares"])
def test_examples_of_jobs_are_valid(task, validators):
    tomllib = pytest.importorskip("tomllib")
    text = subprocess.run([*COMMAND, "init", "--task", task], capture_output=True, text=True, check=True).stdout
    assert faults(validators["job"], tomllib.loads(text)) == {}


def test_a_setting_can_be_written_as_for_the_command(validators):
    job = {"pad_to": 9, "max-peer-items": "1e6", "receiver": {"or_key": ["a,b"], "normalise": {"a": ["trim", "lower"]}}}
    assert faults(validators["job"], job) == {}
    rules = {"own_keys": "10..", "runs": ["2 per 1d"], "expires": "2027-12-31", "both-learn": False, "max-groups": "5"}
    assert faults(validators["policy"], rules) == {}
    partner = {"key": "a.pub", "policy": "p.toml", "policy_signer": "o.pub", "defaults": {"wait": "9m"}}
    assert faults(validators["peers"], {"revoked": "r.txt", "acme": partner}) == {}


@pytest.mark.parametrize(
    "kind, value, place, told",
    [
        ("job", {"tasks": "sum"}, "", "'tasks'"),
        ("job", {"task": "sums"}, "task", "'sums'"),
        ("job", {"both-learn": "yes"}, "both-learn", "boolean"),
        ("job", {"receiver": {"both_learn": 1}}, "receiver/both_learn", "boolean"),
        ("job", {"receiver": 1}, "receiver", "object"),
        ("job", {"sender": {"security": "high"}}, "sender/security", "'high'"),
        ("job", {"group-by": "a"}, "", "'group-by'"),
        ("job", {"sender": {"group-by": "a"}}, "sender", "'group-by'"),
        ("job", {"receiver": {"dry-run": True}}, "receiver", "'dry-run'"),
        ("job", {"receiver": {"wait": ["1", "2"]}}, "receiver/wait", "['1', '2']"),
        ("peers", {"acme": {"address": "a:1"}}, "acme", "'key'"),
        ("peers", {"acme": {"key": "a.pub", "adress": "a:1"}}, "acme", "'adress'"),
        ("peers", {"acme": {"key": "a.pub", "policy": {"roles": ["boss"]}}}, "acme/policy/roles", "boss"),
        ("peers", {"acme": {"key": "a.pub", "defaults": {"input": "a.csv"}}}, "acme/defaults", "'input'"),
        ("peers", {"a bank": {"key": "a.pub"}}, "", "'a bank'"),
        ("policy", {"task": ["sum"]}, "", "'task'"),
        ("policy", {"runs": "daily"}, "runs", "daily"),
        ("policy", {"own-keys": 15}, "own-keys", "15"),
    ],
)
def test_a_fault_has_its_place(kind, value, place, told, validators):
    found = faults(validators[kind], value)
    assert list(found) == [place] and told in found[place], found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What a join of two commands wrote: reports, receipt, lines of the log and of the progress."""
    folder = tmp_path_factory.mktemp("run")
    for name in ["us", "them"]:
        made = [*COMMAND, "identity", "new", "--out", f"{name}.key"]
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
    (folder / "ours.csv").write_text("email,group\na@x.org,1\nb@x.org,1\nNULL,2\n")
    (folder / "theirs.csv").write_text("mail,n\nb@x.org,5\nz@x.org,7\n")
    shared = ["--task", "sum", "--security", "semi-honest", "--json", "--progress", "json", "--receipt"]
    receiver = start(
        *["receive", *shared, "ours.json", "--run-log", "ours.log", "--input", "ours.csv", "--key", "email"],
        *["--group-by", "group", "--output", "sum.csv", "--listen", "127.0.0.1:0"],
        *["--identity", "us.key", "--peer", "them.pub"],
        cwd=folder,
    )
    lines = [receiver.stderr.readline()]
    while '"listening"' not in lines[-1]:
        lines.append(receiver.stderr.readline())
    sender = start(
        *["send", *shared, "theirs.json", "--run-log", "theirs.log", "--input", "theirs.csv", "--key", "mail"],
        *["--payload", "n", "--clamp", "n=0..9", "--max-groups", "9", "--connect", json.loads(lines[-1])["address"]],
        *["--identity", "them.key", "--peer", "us.pub"],
        cwd=folder,
    )
    theirs, said = sender.communicate(timeout=60)
    ours, rest = receiver.communicate(timeout=60)
    assert (sender.returncode, receiver.returncode) == (0, 0), (said, rest)
    nobody = ["send", "--input", "no.csv", "--key", "a", "--connect", "127.0.0.1:1", "--insecure-plaintext"]
    refused = subprocess.run([*COMMAND, *nobody, "--json"], cwd=folder, capture_output=True, text=True)
    assert refused.returncode == 3, refused.stderr

    def read(*names):
        return [(folder / name).read_text() for name in names]

    def objects(texts):
        return [json.loads(line) for text in texts for line in text.splitlines()]

    return {
        "report": objects([ours, theirs, refused.stdout]),
        "receipt": [json.loads(text) for text in read("ours.json", "theirs.json")],
        "log-line": objects(read("ours.log", "theirs.log")),
        "progress-line": objects([*lines, rest, said]),
    }


def test_what_a_run_writes_is_valid(run, validators):
    for kind, values in run.items():
        assert len(values) >= 2
        for value in values:
            assert faults(validators[kind], value) == {}, (kind, value)
    events = {line["event"] for line in run["progress-line"]}
    assert {"listening", "connected", "stage", "end"} <= events
    assert "error" in run["report"][2] and run["report"][0]["groups"] == 2


@pytest.mark.parametrize(
    "kind, change, place",
    [
        ("report", {"own_items": "3"}, "own_items"),
        ("report", {"security": "high"}, "security"),
        ("report", {"phases": [{"name": "connect"}]}, "phases/0"),
        ("receipt", {"seal": ""}, ""),
        ("receipt", {"statement": {}}, "statement"),
        ("log-line", {"signature": 1}, "signature"),
        ("log-line", {"entry": {"event": "over"}}, "entry"),
        ("progress-line", {"event": "over"}, ""),
        ("progress-line", {"elapsed_seconds": "1"}, "elapsed_seconds"),
    ],
)
def test_what_no_run_writes_is_not_valid(kind, change, place, run, validators):
    value = {**copy.deepcopy(run[kind][0]), **change}
    found = faults(validators[kind], value)
    assert found and all(where.startswith(place) for where in found), found


def test_a_schema_takes_no_settings():
    for extra in [["job.toml"], ["--role", "sender"], ["--threads", "2"]]:
        refused = subprocess.run([*COMMAND, "config", *extra, "--schema"], capture_output=True, text=True)
        assert refused.returncode == 2 and "--schema" in refused.stderr, refused.stderr
    assert schema("job") == json.loads(
        subprocess.run([*COMMAND, "config", "--schema"], capture_output=True, text=True, check=True).stdout
    )

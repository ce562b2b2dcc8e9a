"""Examples of docstrings and documents, run as they stand; and the types of the package."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pydoc
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import pytest

import vesica
from vesica import _flags, _settings, _vesica

ROOT = Path(__file__).parents[3]
PACKAGE = Path(vesica.__file__).parent
PAGES = ["README.md", "docs/python.md", "docs/guides/hashed-emails.md", "docs/guides/clean-room.md"]
MODULES = ["vesica", "vesica._tasks", "vesica._look", "vesica._service", "vesica.testing", "vesica.aio"]


# Shared by the runs of mypy, which then look at the package once.
CACHE = tempfile.TemporaryDirectory()


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_are_right(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0 and tried > 0


def blocks(page):
    """The Python code of a page, as one program: later blocks go on from earlier ones."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_code_of_documents_runs(page, tmp_path):
    code = blocks(page)
    assert code
    program = tmp_path / "page.py"
    program.write_text("\n".join(code))
    # As in a virtual environment that is activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    ran = subprocess.run(
        [sys.executable, program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_a_page_says_to_install_what_its_code_imports(page):
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / page).read_text()
    extras = {extra for named in re.findall(r"pip install '\.\[([a-z,]+)\]'", text) for extra in named.split(",")}
    there = {re.match("[a-z]+", need)[0] for extra in extras for need in project["optional-dependencies"][extra]}
    imported = {name for block in blocks(page) for name in re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)}
    assert imported - {"vesica"} <= there | set(sys.stdlib_module_names), imported
    assert project["authors"] and project["keywords"] and not any("url" in name.lower() for name in project)


def test_the_page_says_which_flags_arguments_are():
    rows = re.findall(r"^\| (`\w+=.*) \| (`--.*) \|$", (ROOT / "docs/python.md").read_text(), re.MULTILINE)
    assert len(rows) > 5
    for row in rows:
        arguments, lines = re.findall("`([^`]+)`", row[0]), re.findall("`(--[^`]+)`", row[1])
        assert len(arguments) == len(lines), row
        for argument, line in zip(arguments, lines):
            given = eval(f"dict({argument})")
            of_key = [given.pop(name, None) for name in ("on", "or_on", "normalise")]
            spoken = [*_flags.key_flags(*of_key), *_flags.flags(given)]
            words = [word for name, value in spoken for word in (f"--{name}", value) if word is not None]
            assert words == shlex.split(line)


def test_every_task_has_a_function_and_is_on_the_page():
    page = (ROOT / "docs/python.md").read_text()
    for name in (task.replace("-", "_") for task in _vesica.tasks()):
        assert name in vesica.__all__ and re.search(rf"(`|\bvesica\.){name}\b", page), name


def test_stubs_name_all_that_is_there():
    text = (PACKAGE / "_vesica.pyi").read_text()
    for name in (name for name in dir(_vesica) if not name.startswith("__")):
        assert re.search(rf"\b(class|def) {name}\b", text), name
        value = getattr(_vesica, name)
        for member in (member for member in vars(value) if not member.startswith("_")) if isinstance(value, type) else ():
            assert re.search(rf"\bdef {member}\b", text), f"{name}.{member}"


def test_types_are_consistent():
    mypy = pytest.importorskip("mypy.api")
    out, errors, status = mypy.run(["--strict", "--ignore-missing-imports", "--cache-dir", CACHE.name, "--package", "vesica"])
    assert status == 0, out + errors


# Arguments of functions that are no settings, or are named there.
OF_FUNCTIONS = {
    "RunSettings": {"on", "task", "dry_run"},
    "QuerySettings": {"on", "normalise"},
    "ServeSettings": {"on", "normalise"},
    "PlanSettings": {"task", "sender_items", "receiver_items"},
    "CheckSettings": {"on", "or_on", "normalise"},
}

# What a value is that the help shows as this; others are text.
TYPES = {
    "N": "Count",
    "N|auto": 'Union[Count, Literal["auto"]]',
    "K": "Union[int, str]",
    "E": "Union[float, str]",
    "BITS": "int",
    "BYTES": "int",
    "COUNT": "int",
    "PERCENT": "Union[int, str]",
    "TIME": "Time",
    "SIZE": "Size",
    "FILE": "Path",
    "FOLDER": "Path",
    "NAME|FILE|LINE": "Path",
    "TICKET|FILE": "Path",
    "COLUMN": "Label",
    "COLUMN,...": "Columns",
    "COLUMN[,COLUMN]": "Columns",
    "COLUMN=DIGITS": "Mapping[Label, int]",
    "COLUMN=LEAST..MOST": "Mapping[Label, Range]",
    "COLUMN=NAME[,NAME]": "Normalise",
    "keep|WORD,...": "Union[str, Sequence[str]]",
}

# Settings of Python's own, and one that takes several keys.
OF_PYTHON = {
    "RunSettings": {
        "or_on": "Union[Columns, Sequence[Columns], None]",
        "progress": "Union[bool, Callable[[dict[str, Any]], None], None]",
        "with_report": "bool",
        "cancel": "Optional[threading.Event]",
    }
}


def kind_of(setting):
    if setting["takes"] is None:
        return "bool"
    if setting["values"]:
        return "Literal[{}]".format(", ".join(f'"{value}"' for value in setting["values"]))
    kind = TYPES.get(setting["takes"], "str")
    return kind if setting["default"] is not None else f"Optional[{kind}]"


def settings_of(name, commands):
    fields = {}
    for command in commands:
        for argument, setting in _flags.known(command).items():
            if argument not in OF_FUNCTIONS[name]:
                fields.setdefault(argument, kind_of(setting))
    fields.update(OF_PYTHON.get(name, {}))
    lines = "\n".join(f"    {argument}: {kind}" for argument, kind in fields.items())
    said = " and ".join(f"`vesica {command}`" for command in commands)
    return f'class {name}(TypedDict, total=False):\n    """Of {said}."""\n\n{lines}\n'


def test_the_types_of_settings_are_made_from_the_list_of_flags():
    classes = [
        settings_of("RunSettings", ["receive", "send"]),
        settings_of("QuerySettings", ["query"]),
        settings_of("ServeSettings", ["serve"]),
        settings_of("PlanSettings", ["plan"]),
        settings_of("CheckSettings", ["check"]),
    ]
    path = ROOT / "crates/python/python/vesica/_settings.py"
    head = path.read_text().partition("\n\nclass ")[0]
    made = "\n\n\n".join([head.rstrip(), *(text.rstrip() for text in classes)]) + "\n"
    if os.environ.get("VESICA_BLESS"):
        path.write_text(made)
    assert made == path.read_text(), "write it anew with VESICA_BLESS=1"


@pytest.mark.parametrize("name", ["intersect", "union", "sum", "dry_run", "spark.intersect", "Client", "Server", "plan", "check"])
def test_completion_and_help_list_the_settings(name):
    commands, settings = {
        "Client": (["query"], _settings.QuerySettings),
        "Server": (["serve"], _settings.ServeSettings),
        "plan": (["plan"], _settings.PlanSettings),
        "check": (["check"], _settings.CheckSettings),
    }.get(name, (["receive", "send"], _settings.RunSettings))
    function = vesica
    for part in (importlib.import_module("vesica.spark") and name).split("."):
        function = getattr(function, part)
    shown = inspect.signature(function).parameters
    assert set(settings.__annotations__) <= set(shown), set(settings.__annotations__) - set(shown)
    assert inspect.Parameter.VAR_KEYWORD not in {given.kind for given in shown.values()}
    text = pydoc.render_doc(function)
    for argument, setting in {name: each for command in commands for name, each in _flags.known(command).items()}.items():
        if argument in settings.__annotations__:
            assert f"`{argument}`:" in text, argument
            assert setting["values"] == [] or shown[argument].annotation == Literal[tuple(setting["values"])]
    assert not re.search(r"(?<![\w-])--[a-z]", re.sub(r"`vesica [^`]*`", "", text)), "in Python's words"


@pytest.mark.parametrize(
    ("call", "is_right"),
    [
        ('vesica.intersect([1], role="receiver", security="semi-honest", join="difference", wait="5m")', True),
        ('vesica.sum({"a": [1]}, on=("a", 0), role="sender", payload=["a"], scale={"a": 2}, clamp={"a": (0, 9)})', True),
        ('vesica.intersect([1], role="middle")', False),
        ('vesica.intersect([1], role="receiver", security="paranoid")', False),
        ('vesica.intersect([1], role="receiver", join="iner")', False),
        ('vesica.intersect([1], role="receiver", conect="host:1")', False),
        ('vesica.intersect([1], role="receiver", payload_duplicates="last")', False),
        ('vesica.Server([1], on="a", security="none")', False),
        ('vesica.check([1], side="middle")', False),
        ("vesica.plan(sender_items=1, receiver_items=1, security=1)", False),
    ],
)
def test_type_checkers_know_the_values_of_settings(call, is_right, tmp_path):
    mypy = pytest.importorskip("mypy.api")
    (tmp_path / "program.py").write_text(f"import vesica\n\n{call}\n")
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", str(CACHE.name)]
    out, errors, status = mypy.run([*options, str(tmp_path / "program.py")])
    assert (status == 0) == is_right, out + errors


def test_every_name_of_the_package_is_documented():
    for name in vesica.__all__:
        if name != "__version__":
            assert getattr(vesica, name).__doc__, name

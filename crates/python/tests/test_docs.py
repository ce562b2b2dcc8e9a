"""Examples of docstrings and documents, run as they stand; and the types of the package."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vesica
from vesica import _settings, _vesica

ROOT = Path(__file__).parents[3]
PACKAGE = Path(vesica.__file__).parent
PAGES = ["README.md", "docs/python.md", "docs/guides/hashed-emails.md", "docs/guides/clean-room.md"]
MODULES = ["vesica", "vesica._tasks", "vesica._look", "vesica._service", "vesica.testing"]


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


def test_stubs_name_all_that_is_there():
    text = (PACKAGE / "_vesica.pyi").read_text()
    for name in (name for name in dir(_vesica) if not name.startswith("__")):
        assert re.search(rf"\b(class|def) {name}\b", text), name
        value = getattr(_vesica, name)
        for member in (member for member in vars(value) if not member.startswith("_")) if isinstance(value, type) else ():
            assert re.search(rf"\bdef {member}\b", text), f"{name}.{member}"


def test_types_are_consistent():
    mypy = pytest.importorskip("mypy.api")
    out, errors, status = mypy.run(["--strict", "--ignore-missing-imports", "--cache-dir", os.devnull, "--package", "vesica"])
    assert status == 0, out + errors


def flags(command):
    shown = subprocess.run([sys.executable, "-m", "vesica", command, "--help"], capture_output=True, text=True).stdout
    return set(re.findall(r"^ +(?:-[a-z], )?--([a-z-]+)(?: <.*>)?$", shown, re.MULTILINE))


def test_every_flag_is_an_argument_that_editors_know():
    files = {"help", "verbose", "input", "output", "format", "delimiter", "json", "key", "log"}
    renamed = {"or_on": "or-key"}
    explicit = {"normalise", "or-key", "progress", "task", "sender-items", "receiver-items", "dry-run"}
    python = {"with_report"}
    for commands, kind in [
        (["receive", "send"], _settings.RunSettings),
        (["serve"], _settings.ServeSettings),
        (["query"], _settings.QuerySettings),
        (["plan"], _settings.PlanSettings),
        (["check"], _settings.CheckSettings),
    ]:
        known = {renamed.get(name, name.replace("_", "-")) for name in kind.__annotations__.keys() - python}
        there = set().union(*map(flags, commands)) - files
        assert there, commands
        only_files = {"force", "second-key", "second-or-key", "second-normalise", "all", "allow-broken"}
        assert known <= there | explicit and there <= known | explicit | only_files, (commands, known ^ there)


def test_every_name_of_the_package_is_documented():
    for name in vesica.__all__:
        if name != "__version__":
            assert getattr(vesica, name).__doc__, name

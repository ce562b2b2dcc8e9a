"""The notebooks of `examples/` run from top to bottom, draw what they promise, and are stored with what they gave.

VESICA_BLESS=1 stores them anew.
"""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[3] / "examples").glob("*.ipynb"))
LIBRARIES = ["nbclient", "nbformat", "ipykernel", "matplotlib", "pandas", "pyarrow"]


@pytest.fixture(autouse=True)
def libraries():
    """Skips where a library is missing. Where CI is true, that is a failure."""
    for name in LIBRARIES:
        if os.environ.get("CI") == "true":
            importlib.import_module(name)
        else:
            pytest.importorskip(name)


def read(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """Runs a notebook in an empty folder. The kernel keeps its files there as well."""
    from nbclient import NotebookClient

    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))

    def run(path):
        notebook = read(path)
        # A cell that raises ends this with CellExecutionError, which shows the cell.
        resources = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(notebook, timeout=120, resources=resources, record_timing=False).execute()
        # Which Python it was differs from machine to machine.
        notebook.metadata.language_info.pop("version", None)
        return notebook

    return run


def test_there_are_notebooks():
    assert NOTEBOOKS


def said(notebook):
    """The text that each cell gave, line by line; a picture by its kind alone, for fonts differ."""
    found = []
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        texts = [output.text if output.output_type == "stream" else output.data.get("text/plain", "") for output in cell.outputs]
        kinds = sorted(kind for output in cell.outputs for kind in output.get("data", {}) if kind.startswith("image/"))
        found.append(("".join(texts).splitlines(), kinds))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_cell_of_a_notebook_raises(path, executed):
    notebook = executed(path)
    results = outputs(notebook)
    assert all(output.output_type != "error" for output in results)
    text = "".join(output.text for output in results if output.output_type == "stream" and output.name == "stdout")
    if os.environ.get("VESICA_BLESS"):
        import nbformat

        nbformat.write(notebook, path)
    stored = read(path)
    assert said(stored) == said(notebook), "store it anew with VESICA_BLESS=1"
    cells = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "run from top to bottom"
    assert not re.search(r"/(work|home|root|tmp|Users|usr)/", path.read_text()), "a path of somebody's machine"
    images = [output.data["image/png"] for output in results if "image/png" in output.get("data", {})]
    if path.name == "overlap.ipynb":
        assert "warning: no key matches" in text and "likely cause" in text
        assert len(images) == 1 and len(images[0]) > 5_000

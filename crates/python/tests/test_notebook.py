"""The notebooks of `examples/` run from top to bottom, and draw what they promise."""

from __future__ import annotations

import importlib
import os
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
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
        return notebook

    return run


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_stored_without_outputs(path):
    notebook = read(path)
    assert outputs(notebook) == []
    assert all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_cell_of_a_notebook_raises(path, executed):
    notebook = executed(path)
    results = outputs(notebook)
    assert all(output.output_type != "error" for output in results)
    text = "".join(output.text for output in results if output.output_type == "stream" and output.name == "stdout")
    images = [output.data["image/png"] for output in results if "image/png" in output.get("data", {})]
    if path.name == "overlap.ipynb":
        assert "warning: no key matches" in text and "likely cause" in text
        assert len(images) == 1 and len(images[0]) > 5_000

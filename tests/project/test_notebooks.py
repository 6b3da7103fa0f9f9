"""The notebooks: stored without outputs, and every cell runs."""

from __future__ import annotations

import asyncio
import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.project.sources import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def name_of(notebook: Path) -> str:
    """The name of a notebook in the reports of pytest."""
    return notebook.name


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_notebook_is_stored_without_outputs(notebook: Path) -> None:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert [cell["source"] for cell in code if cell["outputs"] or cell["execution_count"]] == []


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_every_notebook_has_a_link(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert [each.name for each in NOTEBOOKS if f"notebooks/{each.name})" not in text] == []


def with_its_needs(notebook: Path) -> Any:  # noqa: ANN401 - pytest's
    """A notebook that imports JAX needs it."""
    imports_jax = "import jax" in notebook.read_text("utf-8")
    marks = [pytest.mark.needs("jax")] if imports_jax else []
    return pytest.param(notebook, marks=marks, id=notebook.name)


@pytest.mark.needs("nbclient")
@pytest.mark.needs("ipykernel")
@pytest.mark.filterwarnings("default")  # those of Jupyter's own machinery are not ours
@pytest.mark.parametrize("notebook", [*map(with_its_needs, NOTEBOOKS)])
def test_every_cell_runs(notebook: Path) -> None:
    nbformat = import_module("nbformat")
    content = nbformat.read(notebook, as_version=4)
    folder = {"metadata": {"path": str(notebook.parent)}}
    client = import_module("nbclient").NotebookClient(content, timeout=300, resources=folder)
    asyncio.run(client.async_execute(env={**os.environ, "PYTHONPATH": str(ROOT)}))

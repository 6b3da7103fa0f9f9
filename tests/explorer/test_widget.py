"""The page as a widget: in JupyterLab, and what a notebook shows without anywidget."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from ops import explore, hlo
from ops.explorer import MissingPackageError
from tests.explorer.chromium import Context, Page, browser, needs_chromium

SOFTMAX: Final = hlo.load("examples/softmax.hlo")
CODE: Final = "from ops import explore, hlo\nexplore(hlo.load('softmax.hlo')['ynn_fusion.1'])"
SECONDS: Final = 600
"""How long JupyterLab may take to start and to open a notebook."""


def test_without_anywidget_a_picture_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    shown = explore(SOFTMAX)._repr_mimebundle_()
    assert shown["text/plain"] == "<page about jit_softmax: main.3>"
    assert shown["text/html"].startswith("<svg")
    assert "pip install &#x27;symbolic-indexing[widget]&#x27;" in shown["text/html"]
    with pytest.raises(MissingPackageError, match="needs anywidget: pip install"):
        explore(SOFTMAX).widget()


@pytest.mark.needs("anywidget")
def test_a_notebook_shows_the_widget() -> None:
    page = explore(SOFTMAX)
    bundle = page._repr_mimebundle_(include=None, exclude=None)
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]


@contextmanager
def jupyter_lab(folder: Path) -> Generator[str]:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    unused = {"jupyter_lsp": False, "jupyter_server_terminals": False}
    options = [f"--ServerApp.port={port}", "--IdentityProvider.token=", "--allow-root"]
    options.append(f"--ServerApp.jpserver_extensions={unused}")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", *options]
    places = {f"JUPYTER_{name}_DIR": str(folder / ".jupyter") for name in ("CONFIG", "RUNTIME")}
    variables = os.environ | places | {"JUPYTERLAB_SETTINGS_DIR": str(folder / ".jupyter")}
    nothing = subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=folder, env=variables, stdout=nothing, stderr=nothing)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(SECONDS)


def wait_for(address: str) -> None:
    import time

    end = time.monotonic() + SECONDS
    while True:
        try:
            urlopen(address).close()  # noqa: S310 - our own server
        except URLError:
            assert time.monotonic() < end, "JupyterLab does not answer"
            time.sleep(0.2)
        else:
            return


def notebook(code: str) -> str:
    cell: dict[str, object] = {"cell_type": "code", "id": "explore", "source": code}
    cell |= {"metadata": {}, "outputs": [], "execution_count": None}
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def run_first_cell(context: Context, address: str) -> Page:
    """Open the notebook and run its cell, again where JupyterLab lost a key or a run.

    A key goes to the cell, not to its editor, which would write it into the code.
    """
    said = ""
    for seconds in (30, 60, 120, 240):
        page = context.new_page()
        page.goto(address, timeout=SECONDS * 1000)
        prompt = page.locator(".jp-CodeCell").first.locator(".jp-InputPrompt")
        prompt.wait_for(timeout=SECONDS * 1000)
        shown = page.locator(".explorer .line.current", has_text="ROOT %exp.0")
        for _ in range(seconds):
            if prompt.inner_text().strip() == "[ ]:":
                prompt.click()
                page.keyboard.press("Control+Enter")
            page.wait_for_timeout(1000)
            if shown.is_visible():
                return page
        said = page.locator("body").inner_text()
        page.close()
    pytest.fail(f"The widget is not shown; the page says: {said}")


@needs_chromium
@pytest.mark.needs("playwright")
@pytest.mark.needs("anywidget")
@pytest.mark.needs("ipykernel")
@pytest.mark.needs("jupyterlab")
def test_the_widget_works_in_jupyterlab(tmp_path: Path) -> None:
    (tmp_path / "softmax.hlo").write_text(SOFTMAX.source)
    (tmp_path / "explore.ipynb").write_text(notebook(CODE))
    with jupyter_lab(tmp_path) as address, browser(offline=False) as context:
        wait_for(f"{address}/api")
        page = run_first_cell(context, f"{address}/doc/tree/explore.ipynb")  # less than /lab
        canvas = page.locator(".explorer canvas.active")
        canvas.hover(position={"x": 43, "y": 63})
        page.wait_for_function("document.querySelector('.elements').textContent")
        element = page.locator(".explorer .place").inner_text().removeprefix("element (0, ")
        row, _ = element.rstrip(")").split(", ")
        said = page.locator(".explorer .elements").inner_text()
        assert said == f"reads 128 elements in 129 reads: (0, {row}, 0…127)"
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        page.locator(".explorer[data-theme=dark]").wait_for()

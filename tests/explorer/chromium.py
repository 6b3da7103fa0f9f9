"""A browser without a screen and without a network, for tests of pages."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, Final

import pytest

CHROMIUM: Final = which("chromium") or which("chromium-browser") or which("google-chrome")
"""The path of the browser that the system has."""

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

_NO_SANDBOX: Final = ["--no-sandbox"]
"""The sandbox of Chromium does not work for root, as whom tests run in containers."""

# Playwright is in the extra `test-all`: its types are not there for all who check ours.
Context = Any
Page = Any


@contextmanager
def browser(*, offline: bool = True) -> Generator[Context]:
    """A browser; it reaches no network but where a server of this machine is tested."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = [] if os.geteuid() else _NO_SANDBOX
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running.new_context(viewport={"width": 1400, "height": 900}, offline=offline)
        running.close()


class OpenPage:
    """A page in the browser, and what it complained of."""

    def __init__(self, context: Context, file: Path, address: str = "") -> None:
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        for event in ("console", "pageerror", "dialog"):
            self.page.on(event, lambda found: self.complaints.append(str(found)))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        self.page.goto(file.as_uri() + address)
        self.page.wait_for_selector(".box.chosen")

    def search(self, words: str) -> None:
        """Search by the keyboard, and choose what is found first."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(words)
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Escape")

    def hover(self, row: int, column: int) -> None:
        """Point at the middle of a cell of the result."""
        canvas = self.page.locator("canvas.active")
        side = self.page.evaluate(_CELL)
        canvas.hover(position={"x": (column + 0.5) * side, "y": (row + 0.5) * side})
        self.page.wait_for_function("document.querySelector('.place').textContent.includes('(')")

    def lit(self, name: str) -> set[tuple[int, int]]:
        """The cells of what is read that are not drawn in the color of all cells, as they look."""
        return {(row, column) for row, column in self.page.evaluate(_LIT, name)}

    def block(self, name: str) -> tuple[int, int]:
        """How many elements a cell of what is read has along each axis."""
        canvas = self.page.locator(f"figure[data-name='{name}'] canvas")
        rows, columns = canvas.get_attribute("data-block").split()
        return int(rows), int(columns)

    def words(self, name: str) -> str:
        found: str = self.page.locator(f"figure[data-name='{name}'] .elements").inner_text()
        return found


# The side of a cell, as the page draws the result.
_CELL: Final = """() => {
  const canvas = document.querySelector("canvas.active");
  return canvas.clientWidth / Number(canvas.dataset.columns);
}"""

_LIT: Final = """(name) => {
  const canvas = document.querySelector(`figure[data-name='${name}'] canvas`);
  const [rows, columns] = [Number(canvas.dataset.rows), Number(canvas.dataset.columns)];
  const side = canvas.width / columns;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colorAt = (row, column) => {
    const [y, x] = [Math.floor((row + 0.4) * side), Math.floor((column + 0.4) * side)];
    return data.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3).join();
  };
  const plain = getComputedStyle(canvas).getPropertyValue("--cell").trim().slice(1);
  const usual = [0, 2, 4].map((each) => Number.parseInt(plain.slice(each, each + 2), 16)).join();
  const cells = Array.from({ length: rows * columns }, (_, each) => {
    return [Math.floor(each / columns), each % columns];
  });
  return cells.filter(([row, column]) => colorAt(row, column) !== usual);
}"""

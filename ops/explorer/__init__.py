"""The explorer: one page to look at a program, to click on instructions, and to see their reads.

The folder ``page`` holds the page itself: markup, style, and modules of JavaScript. ``page.py``
puts them together, and says what a page knows of instructions and of their maps.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from os import PathLike
from string import Template
from typing import TYPE_CHECKING, Any

from ops.explorer.page import Explored, Json, PageData, function_list, modules, page_file, views_of
from ops.fusion import Fusion, fusion_graph
from ops.hlo.files import write_text
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from anywidget import AnyWidget

__all__ = ["Exploration", "Explored", "explore"]


# The page as a value: written to a file, or shown by a notebook as a widget.


@dataclass(frozen=True, slots=True, repr=False)
class Exploration:
    """A page about a program.

    Attributes:
        title: the name of the program.
        data: the facts of the page about the program, as JSON.
        code: the functions of its maps, in JavaScript.
        first: the fusion or computation that it begins with.
    """

    title: str
    data: str
    code: str
    first: Fusion

    @property
    def html(self) -> str:
        """The page: one document that loads nothing, and runs no script but its own."""
        style, script = page_file("explorer.css"), f"{self.script}\n{page_file('start.js')}"
        return Template(page_file("page.html")).substitute(
            title=escape(self.title),
            style=style,
            data=self.data,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
        )

    @property
    def script(self) -> str:
        """The modules of the page as one, with the functions of its maps."""
        return f"{modules()}\n{self.code}"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Raises:
            HloFileError: the file cannot be written.
        """
        write_text(path, self.html)

    def widget(self) -> AnyWidget:
        """The page as a widget for notebooks; a notebook shows it by itself.

        Raises:
            MissingPackageError: anywidget is not installed.
        """
        try:
            from anywidget import AnyWidget  # noqa: PLC0415 - an extra
            from traitlets import Unicode  # noqa: PLC0415 - an extra, too
        except ModuleNotFoundError:
            install = "pip install 'symbolic-indexing[widget]'"
            message = f"the explorer in a notebook needs anywidget: {install}"
            raise MissingPackageError(message) from None
        script = f"{self.script}\n{page_file('widget.js')}"

        class ExplorerWidget(AnyWidget):
            """The explorer; each has a module of its own, since that holds the code of its maps."""

            _esm = script
            _css = page_file("explorer.css")
            data = Unicode().tag(sync=True)

        return ExplorerWidget(data=self.data)

    def _repr_mimebundle_(self, **_: object) -> Any:  # noqa: ANN401 - Jupyter's
        """For notebooks: the widget; where anywidget is not installed, the graph as a picture."""
        try:
            shown: Any = self.widget()  # anywidget's types leave parts open
        except MissingPackageError as error:
            picture = fusion_graph(self.first)
            note = f"<p>{escape(str(error))}</p>"
            return {"text/plain": repr(self), "text/html": f"{picture.svg()}\n{note}"}
        return shown._repr_mimebundle_()

    def __repr__(self) -> str:
        return f"<page about {self.title}>"


def explore(thing: Explored) -> Exploration:
    """A page to look at a program: its graphs, its text, and the reads of each element.

    Args:
        thing: a module; a computation; or a fusion or an instruction, with all that it calls.

    Raises:
        ArgumentError: ``thing`` is of another kind.

    >>> from ops import explore, hlo
    >>> page = explore(hlo.load("examples/softmax.hlo"))
    >>> page
    <page about jit_softmax: main.3>
    >>> page.html.splitlines()[0]
    '<!DOCTYPE html>'
    """
    views = views_of(thing)
    data = PageData(views)
    fields = data.fields()
    title = f"{fields['module']}: {views[0].name}" if fields["module"] else views[0].name
    return Exploration(title, _json(fields), function_list(data.codes), views[0].fusion)


def _json(fields: Json) -> str:
    """JSON in which nothing ends the element that holds it."""
    return json.dumps(fields, separators=(",", ":")).replace("<", "\\u003c")


def _hash(content: str) -> str:
    """Name of a script or style in the page."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


class MissingPackageError(IndexingError, ImportError):
    """A package is not installed that comes with an extra."""

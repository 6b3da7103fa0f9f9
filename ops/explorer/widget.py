"""The page as a widget in notebooks, by anywidget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.explorer.page_code import page_file
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from anywidget import AnyWidget


class MissingPackageError(IndexingError, ImportError):
    """A package is not installed that comes with an extra."""


def widget_of(data: str, script: str) -> AnyWidget:
    """A widget that runs a module of JavaScript with the data of a page.

    Raises:
        MissingPackageError: anywidget is not installed.
    """
    try:
        from anywidget import AnyWidget  # noqa: PLC0415 - an extra
        from traitlets import Unicode  # noqa: PLC0415 - an extra, too
    except ModuleNotFoundError:
        message = (
            "the explorer in a notebook needs anywidget: pip install 'symbolic-indexing[widget]'"
        )
        raise MissingPackageError(message) from None

    class ExplorerWidget(AnyWidget):
        """The explorer; each has a module of its own, since that holds the code of its maps."""

        _esm = script
        _css = page_file("explorer.css")
        data = Unicode().tag(sync=True)

    return ExplorerWidget(data=data)

"""What changed between two modules, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.cli.documents import Document, Lines, attempt, fields_of_command
from ops.cli.module_questions import load_module
from ops.modules.difference import diff
from ops.performance.counts import ends_of_count
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.cli.console import Console
    from ops.cli.documents import Fields, Item
    from ops.cli.selection import Selection
    from ops.hlo import HloModule
    from ops.modules.difference import Change, ModuleDifference, Traffic


def document_of_difference(
    files: tuple[str, str], selection: Selection, seconds: float, console: Console
) -> Document:
    """The changes from the module of one file to that of another."""
    found = attempt(_difference, files, seconds, console)
    about = fields_of_command("diff") | {"seconds": seconds}
    if isinstance(found, IndexingError):
        files_alone = ({"file": file, "module": None} for file in files)
        before, after = (
            {**each, "bytes_read": None, "bytes_written": None} for each in files_alone
        )
        return Document("changes", [found], about | {"before": before, "after": after})
    modules = (found.before, found.after)
    before, after = (
        _module_fields(*each) for each in zip(files, modules, found.traffic, strict=True)
    )
    title = "\n".join(found.heading())
    fields = about | {"before": before, "after": after}
    return Document("changes", _items(found, selection), fields, title=title)


def _difference(files: tuple[str, str], seconds: float, console: Console) -> ModuleDifference:
    before, after = (load_module(file) for file in console.track(files, "modules"))
    return diff(before, after, seconds=seconds)


def _module_fields(file: str, module: HloModule, traffic: Traffic) -> Fields:
    return {
        "file": file,
        "module": module.name,
        "bytes_read": ends_of_count(traffic.read),
        "bytes_written": ends_of_count(traffic.written),
    }


def _items(found: ModuleDifference, selection: Selection) -> Iterator[Item | IndexingError]:
    """The changes of the instructions that are selected, in either module."""
    checked = attempt(selection.check_any, (found.before, found.after))
    if isinstance(checked, IndexingError):
        return iter([checked])
    ends = ((each, filter(None, (each.before, each.after))) for each in found)
    chosen = (each for each, both in ends if any(map(selection.has, both)))
    return selection.kept(map(_item, chosen))


def _item(change: Change) -> Item:
    return Lines([str(change)], lambda: _change_fields(change))


def _change_fields(change: Change) -> Fields:
    return {
        "change": change.kind.value,
        "before": change.before and change.before.name,
        "after": change.after and change.after.name,
        "differences": [
            {"what": each.what, "before": list(each.before), "after": list(each.after)}
            for each in change.differences
        ],
    }

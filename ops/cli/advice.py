"""The command that advises: what a module wastes, or what another one wastes beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from ops.advice import Advice, AdviceList, advise, worse
from ops.cli import documents
from ops.cli.console import Console
from ops.cli.documents import Document, Fields, Item, Lines, Selection
from ops.cli.files import load_module
from ops.hlo.module import source_locations
from ops.performance import DEVICES
from ops.performance.tally import ends_of_count
from simplifier.errors import IndexingError


def advice(
    *,
    before: str,
    after: str | None,
    device: str,
    selection: Selection,
    seconds: float,
    console: Console,
) -> Document:
    """The advice for a module; beside an earlier one, only what it wastes more."""
    files = [before] if after is None else [before, after]
    find = partial(_found, device=device, seconds=seconds, selection=selection)
    found = documents.attempt(find, console.track(files, "modules"))
    fields: Fields = {"files": files, "device": device, "seconds": seconds}
    if isinstance(found, IndexingError):
        items: Iterable[Item | IndexingError] = [found]
    else:
        items = [
            *(Lines([str(each)], partial(_fields, each)) for each in found),
            _Closing(found.closing(), dict),
        ]
        fields |= {"left_out": found.left_out, "not_seen": list(found.not_seen)}
    return Document("advice", items, documents.fields_of_command("advise") | fields)


def _found(files: Iterable[str], device: str, seconds: float, selection: Selection) -> AdviceList:
    lists: list[AdviceList] = []
    for file in files:
        module = load_module(file)
        selection.check(module)
        lists.append(advise(module, DEVICES[device], seconds=seconds))
    found = worse(*lists) if len(lists) > 1 else lists[0]
    chosen = [each for each in found if selection.has(each.instruction)]
    return replace(found, advice=tuple(chosen[: selection.limit]))


class _Closing(Lines):
    """The last lines for people; programs have them as fields of the document."""

    __slots__ = ()

    def json_pieces(self) -> Iterator[str]:
        """Nothing."""
        return iter(())


def _fields(each: Advice) -> Fields:
    return {
        "kind": each.kind,
        "instruction": each.instruction.name,
        "source": [*map(str, source_locations(each.instruction))],
        "why": each.why,
        "mend": each.mend,
        "unit": each.unit,
        "before": ends_of_count(each.before),
        "after": ends_of_count(each.after),
        "share": each.share,
        "bytes_saved": each.bytes_saved,
        "price": each.price,
    }

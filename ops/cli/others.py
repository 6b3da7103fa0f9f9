"""Commands that are about no maps: layouts, differences, advice, the explorer file, examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from itertools import groupby
from pathlib import Path
from typing import Final

from indexing import format_map, layout
from indexing.layout import Shape
from indexing.passes import text_of_layout
from ops.advice import Advice, AdviceList, advise, notes_of, worse
from ops.cli import documents
from ops.cli.console import Console
from ops.cli.documents import Bytes, Cells, Document, Fields, Item, Lines, Selection
from ops.cli.files import load_module
from ops.cli.maps import indented, map_fields
from ops.explorer import explore as page_about
from ops.hlo import HloFileError, HloModule
from ops.hlo.files import files_in, write_text
from ops.hlo.module import source_locations
from ops.hlo.opcodes import nearby
from ops.modules.difference import Change, ChangeKind, ModuleDifference, Traffic, successive
from ops.modules.difference import diff as difference_between
from ops.performance import DEVICES
from ops.performance.tally import ends_of_count, sum_of_counts
from simplifier.errors import ArgumentError, IndexingError, listed
from simplifier.forms import Interval

_MAPS: Final = {
    "from an index to the offset": layout.logical_to_linear,
    "from an index to the tiled dimensions": layout.logical_to_tiled,
    "from an offset to the index": layout.linear_to_logical,
}


def layout_lines(shape: Shape) -> Lines:
    """The layout of an array: a line for each fact, the maps, the grid."""
    facts = (f"{name}: {value}" for name, value in _facts(shape))
    texts = ((title, format_map(of(shape), multiline=True)) for title, of in _MAPS.items())
    maps = (f"{title}:\n{indented(text)}" for title, text in texts)
    parts = "\n".join([*facts, *maps, text_of_layout(shape)])
    return Lines([f"{shape}:", indented(parts)], partial(_layout_fields, shape))


def _facts(shape: Shape) -> Iterator[tuple[str, str]]:
    held, known = shape.array_layout, layout.format_of(shape.array_layout)
    yield "order", layout.order_in_words(shape)
    yield "size", layout.size_in_words(shape)
    yield "physical shape", f"{shape.element_type}[{','.join(map(str, layout.tiled_sizes(shape)))}]"
    if layout.tiling_steps(shape):
        yield "steps", ", ".join(map(str, layout.tiling_steps(shape)))
    if shape.dimensions:
        yield "strides", ", ".join(map(_stride, shape.dimension_names, layout.strides(shape)))
    on_tpu = f"XLA picks {layout.tile_format(shape).name} on a TPU"
    yield "format", f"{known.name if known else 'none with a name'}; {on_tpu}"
    yield "memory space", f"{held.memory_space}, {held.memory_space_name}"


def _layout_fields(shape: Shape) -> Fields:
    """The same in numbers; a stride is null where a tile cuts its dimension."""
    held, size = shape.array_layout, layout.array_size(shape)
    known = layout.format_of(held)
    return {
        "shape": str(shape),
        "order": layout.order_in_words(shape),
        "physical_shape": list(layout.tiled_sizes(shape)),
        "steps": list(map(str, layout.tiling_steps(shape))),
        "places": size.elements,
        "padding": size.padding,
        "element_bits": size.element_bits,
        "bits": size.bits,
        "bytes": size.bytes,
        "strides": list(layout.strides(shape)),
        "format": known.name if known else None,
        "tpu_format": layout.tile_format(shape).name,
        "memory_space": held.memory_space,
        "memory_space_name": held.memory_space_name,
        "maps": {of.__name__: map_fields(of(shape)) for of in _MAPS.values()},
    }


def _stride(name: str, stride: int | None) -> str:
    return f"{name} {'varies' if stride is None else stride}"


# Changes between two modules, as a document.


def diff(
    *, before: str, after: str | None, selection: Selection, seconds: float, console: Console
) -> Document:
    """Changes from the module of one file to that of another, or by each pass of a dump."""
    if after is None:
        return _passes(before, selection, seconds, console)
    files = (before, after)
    found = documents.attempt(_difference, files, seconds, console)
    if isinstance(found, IndexingError):
        items, title, ends = [found], None, [*map(_end_fields, files)]
    else:
        items, title = _items(found, selection), "\n".join(found.heading())
        modules = (found.before, found.after)
        ends = [*map(_end_fields, files, modules, found.traffic)]
    fields = {"seconds": seconds} | dict(zip(("before", "after"), ends, strict=True))
    limit, nothing = selection.limit, "nothing changed"
    return Document("changes", items, fields, title=title, limit=limit, nothing=nothing)


def _difference(files: tuple[str, str], seconds: float, console: Console) -> ModuleDifference:
    before, after = (load_module(file) for file in console.track(files, "modules"))
    return difference_between(before, after, seconds=seconds)


def _end_fields(
    file: str, module: HloModule | None = None, traffic: Traffic | None = None
) -> Fields:
    read, written = map(ends_of_count, traffic[:2]) if traffic else (None, None)
    name = module.name if module else None
    return {"file": file, "module": name, "bytes_read": read, "bytes_written": written}


def _items(found: ModuleDifference, selection: Selection) -> Iterator[Item | IndexingError]:
    """The changes of the instructions that are selected, in either module."""
    checked = documents.attempt(selection.check_any, (found.before, found.after))
    if isinstance(checked, IndexingError):
        return iter([checked])
    chosen = _chosen(found, selection)
    return selection.kept(Lines([str(each)], partial(_change_fields, each)) for each in chosen)


def _chosen(found: ModuleDifference, selection: Selection) -> Iterator[Change]:
    ends = ((each, filter(None, (each.before, each.after))) for each in found)
    return (each for each, both in ends if any(map(selection.has, both)))


def _change_fields(change: Change) -> Fields:
    return {
        "change": change.kind.value,
        "before": change.before and change.before.name,
        "after": change.after and change.after.name,
        "differences": [each._asdict() for each in change.differences],
    }


# Changes by each pass of a compiler, from the modules that it dumps between them.

OF_PASSES: Final = ("kernels", "moved", "change", "came", "went", "changed", "maps", "pass")

_PASS: Final = re.compile(
    r"(?P<module>.*)\.\d{4,}\.(?P<pipeline>.*)\.after_(?P<last>.*)\.before_.*"
)
"""The name that XLA gives a module between two passes, which have numbers."""


def _passes(folder: str, selection: Selection, seconds: float, console: Console) -> Document:
    """The passes of a dump that change something, in their order."""
    files = documents.attempt(_files_of_passes, folder)
    about: Fields = {"seconds": seconds, "folder": folder}
    if isinstance(files, IndexingError):
        return Document("passes", [files], about)
    errors: list[IndexingError] = []
    found = _successive(console.track(files, "modules"), seconds, errors)
    rows = selection.by_weight(OF_PASSES, found, partial(_pass, selection))
    nothing = "no pass changes an instruction that runs"
    items = (*rows, *errors)
    return Document("passes", items, about, limit=selection.limit, nothing=nothing)


def _files_of_passes(folder: str) -> list[str]:
    """The modules between passes in a folder.

    Raises:
        HloFileError: it has none, or is no folder.
    """
    if not Path(folder).is_dir():
        raise HloFileError(folder, "diff: expected a second module, or a folder of a dump")
    found = [file for file in files_in(folder) if _PASS.fullmatch(Path(file).name)]
    if not found:
        expected = "expected names such as module_0001.f.0002.fusion.after_dce.before_cse.txt"
        hint = "XLA_FLAGS=--xla_dump_hlo_pass_re=.* dumps them"
        raise HloFileError(folder, f"no modules between passes; {expected}: {hint}")
    return found


def _successive(
    files: Iterable[str], seconds: float, errors: list[IndexingError]
) -> Iterator[ModuleDifference]:
    """The changes from each file to the next one of its module; those without one are errors."""
    for _, group in groupby(files, lambda file: _PASS.sub(r"\g<module>", file)):
        yield from successive(_loaded(group, errors), seconds=seconds)


def _loaded(files: Iterable[str], errors: list[IndexingError]) -> Iterator[HloModule]:
    for file in files:
        try:
            yield load_module(file)
        except IndexingError as error:
            errors.append(error)


def _pass(selection: Selection, found: ModuleDifference) -> Iterator[Cells]:
    """What a pass changed, if that is anything."""
    changes = [*_chosen(found, selection)]
    if not changes:
        return
    kinds = {kind.value: sum(each.kind is kind for each in changes) for kind in ChangeKind}
    maps = sum(any(part.what.startswith("maps") for part in each.differences) for each in changes)
    was, moved = (sum_of_counts((each.read, each.written)) for each in found.traffic)
    change = None
    if not isinstance(was, Interval) and not isinstance(moved, Interval):
        change = Bytes(moved - was)
    kernels = [each.kernels for each in found.traffic]
    modules = zip((found.before, found.after), found.traffic, strict=True)
    before, after = (_end_fields(module.file, module, traffic) for module, traffic in modules)
    name = _PASS.sub(r"\g<last> of \g<pipeline>", Path(found.after.file).name)
    fields = {"pass": name, "before": before, "after": after, "kernels": kernels, "maps": maps}
    counts = (kinds["added"], kinds["removed"], kinds["changed"], maps)
    title = f"{name}, {found.after.name}"
    yield Cells((kernels[1], Bytes(moved), change, *counts, title), lambda: fields | kinds)


# Advice about a module, as a document.


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
    modules = console.track(files, "modules")
    found = documents.attempt(_advised, modules, device, seconds, selection)
    fields: Fields = {"files": files, "device": device, "seconds": seconds}
    if isinstance(found, IndexingError):
        return Document("advice", [found], fields)
    items = (Lines([str(each)], partial(_advice_fields, each)) for each in found)
    fields |= {"left_out": found.left_out, "not_seen": list(found.not_seen)}
    return Document("advice", [*items, Lines(found.closing())], fields)


def _advised(files: Iterable[str], device: str, seconds: float, selection: Selection) -> AdviceList:
    lists: list[AdviceList] = []
    for file in files:
        module = load_module(file)
        selection.check(module)
        lists.append(advise(module, DEVICES[device], seconds=seconds))
    found = worse(*lists) if len(lists) > 1 else lists[0]
    chosen = [each for each in found if selection.has(each.instruction)]
    return replace(found, advice=tuple(chosen[: selection.limit]))


def _advice_fields(each: Advice) -> Fields:
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


# The explorer page of a module, in a file.


def explore(*, file: str, output: str, console: Console) -> Document:
    """The page of a module, written to the file ``output``."""
    pages = (documents.attempt(_written, each, output) for each in console.track([file], "pages"))
    return Document("pages", pages, {"file": file})


def _written(file: str, output: str) -> Lines:
    """Write the page.

    Raises:
        HloFileError, HloTextError: the module cannot be read, or the page cannot be written.
    """
    if Path(output).suffix not in {"", ".html", ".htm"}:
        raise HloFileError(output, "the page is HTML; expected a name in .html")
    module = load_module(file)
    found = advise(module)
    page = page_about(module, notes=notes_of(found), kernels=found.kernels).html
    write_text(output, page)
    count, size = sum(1 for _ in module.instructions), len(page.encode())
    fields = {"module": module.name, "instructions": count, "page": output, "bytes": size}
    return Lines([f"{output}: {count:,} instructions, {size:,} bytes"], lambda: fields)


# The examples that come with the library: modules to try commands on, and passes to copy from.


def example(*, name: str, console: Console) -> Document:
    """One example; without a name, a list of all."""
    known = _files()
    wanted = console.track([name] if name else [*known], "examples")
    items = (documents.attempt(_read, each, known, name) for each in wanted)
    return Document("examples", items, {})


def _read(wanted: str, known: Mapping[str, Traversable], name: str) -> Lines:
    """An example by its name, with or without the ending of its file; in a list, its name alone.

    Raises:
        ArgumentError: there is none.
    """
    found = next((each for stem, each in known.items() if wanted in {stem, each.name}), None)
    if found is None:
        hint = nearby(wanted, known) or f"expected one of {listed(known)}"
        raise ArgumentError(f"example: there is no example {wanted}; {hint}")
    text = found.read_text("utf-8")
    shown = text.removesuffix("\n") if name else found.name
    return Lines([shown], lambda: {"file": found.name, "text": text})


def _files() -> dict[str, Traversable]:
    """The files by their names without endings: modules first, then passes."""
    folder = _folder()
    entries = [*folder.iterdir(), *folder.joinpath("passes").iterdir()]
    kept = [each for each in entries if each.name.endswith((".hlo", ".py"))]
    kept.sort(key=lambda each: (each.name.endswith(".py"), each.name))
    return {each.name.rpartition(".")[0]: each for each in kept}


def _folder() -> Traversable:
    """A wheel has the examples inside of ``ops``, a checkout beside it."""
    installed = resources("ops").joinpath("examples")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "examples"

"""The commands with their options, and how one of them runs; their help stands in ``usage.py``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib.resources import files as resources
from math import inf, nan
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from indexing.layout import Shape, ShapeError, tiling_steps
from indexing.passes import svg_of_layout
from indexing.startup import INTERRUPTED
from ops.cli import documents, kernels, maps
from ops.cli.console import COLORS, PLAIN, Console, look_of, report, show_warnings
from ops.cli.documents import Document, Extent, Lines, SelectedQuery, Selection, Verbatim
from ops.cli.files import answer_files
from ops.cli.others import OF_PASSES, advice, diff, example, explore, layout_lines
from ops.cli.usage import parsers
from ops.fusion.fusion import FEW_PATHS
from ops.hlo.opcodes import near_names, nearby
from ops.performance import DEVICES
from ops.performance.utilization import SECONDS
from simplifier.errors import ArgumentError, IndexingError, Span, TextError

# The commands: a function for each, or one for all about modules, from options to a document.


def reads(*, files: Sequence[str], jobs: int, console: Console, **options: Any) -> Document:  # noqa: ANN401 - the fields of the query
    """Reads of each operand by each tile of the results of instructions."""
    query = kernels.InstructionReads(**options)
    if query.picture is not None and (len(files) > 1 or Path(files[0]).is_dir()):
        error = ArgumentError("reads: -o draws one instruction of one file; expected one file")
        return Document("modules", [error], query.about())
    return answer_files(query, files, jobs, console)


def simplify(*, file: str, texts: Sequence[str], console: Console) -> Document:
    """The maps and expressions of a text in their smallest form."""
    spans = documents.attempt(maps.spans_of, file, texts)
    if isinstance(spans, IndexingError):
        items = [spans]
    else:
        items = (documents.attempt(maps.simplified, span) for span in console.track(spans, "maps"))
    return Document("maps", items, {"file": None if texts else file}, separator="---")


def layout(*, shape: str, output: str | None, console: Console) -> Document:
    """The layout of an array; its picture goes into the file ``output``."""
    items = (documents.attempt(_drawn, each, output) for each in console.track([shape], "layouts"))
    return Document("layouts", items, {"picture": output})


def _drawn(shape: str, output: str | None) -> Lines:
    array = _read_array(shape)
    if output is not None:
        documents.write_svg(output, svg_of_layout(array))
    return layout_lines(array)


def _read_array(text: str) -> Shape:
    """The array from its text, with a layout that has offsets.

    Raises:
        TextError: the text is no such array.
    """
    shape = Shape.parse(text)
    try:
        tiling_steps(shape)
    except ShapeError as error:
        raise TextError(str(error), Span(text, 0, len(text))) from None
    return shape


def schema(*, console: Console) -> Document:
    """The schema of the JSON documents."""
    return Document("schemas", [Verbatim(console.track([schema_text()], "schemas"))], {})


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of the documents that commands print with ``--json``.

    >>> import json
    >>> json.loads(schema_text())["title"]
    'What python -m indexing COMMAND --json prints'
    """
    return resources("ops.cli").joinpath("schema.json").read_text("utf-8").rstrip("\n")


# The options that several commands share, each said once, and how arguments are read.

Options: TypeAlias = "dict[str, dict[str, Any]]"
"""Arguments of argparse, by the names of an option; a space is between two names."""


# How arguments are read.


def integer(least: int, expected: str, text: str) -> int:
    """A number from the least on."""
    if not text.isdecimal() or int(text) < least:
        raise ArgumentTypeError(f"expected {expected}, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds."""
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not 0 <= found < inf:
        raise ArgumentTypeError(f"expected a number of seconds, not {text!r}")
    return found


def index(text: str) -> tuple[int, ...]:
    """The index of an element, such as ``3,0``; of a scalar, no text.

    >>> index("3, 0")
    (3, 0)
    """
    return _numbers(text, "an index such as 3,0")


def sizes(text: str) -> tuple[int, ...]:
    """The sizes of a tile.

    >>> sizes("8x128")
    (8, 128)
    """
    found = _numbers(text.replace("x", ","), "sizes such as 8x128")
    if not all(found):
        raise ArgumentTypeError(f"expected sizes such as 8x128, not {text!r}")
    return found


def _numbers(text: str, expected: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.strip("() ").split(",")] if text.strip("() ") else []
    if not all(word.isdecimal() for word in words):
        raise ArgumentTypeError(f"expected {expected}, not {text!r}")
    return tuple(map(int, words))


# Kinds of options.


def flag(meaning: str) -> dict[str, Any]:
    """An option that is given or not."""
    return {"action": "store_true", "help": meaning}


def choice(names: Iterable[str], meaning: str) -> dict[str, Any]:
    """One of some names, the first by default."""
    choices = [*names]
    shown = f"{{{','.join(choices)}}}"
    return value(shown, meaning, type=partial(named, choices), default=choices[0])


def named(names: Sequence[str], text: str) -> str:
    """The name that is meant, in whatever case and with whatever between its words.

    >>> named(["A100", "RTX A6000"], "rtx_a6000")
    'RTX A6000'
    """
    known, wanted = {_letters(name): name for name in names}, _letters(text)
    if wanted not in known:
        near = [known[each] for each in near_names(wanted, known)]
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}"
        raise ArgumentTypeError(f"there is no {text!r}; {hint}")
    return known[wanted]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def value(metavar: str, meaning: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - argparse's
    """A text, or the type that argparse is told to make of it."""
    return {"metavar": metavar, "help": meaning} | settings


def number(meaning: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - likewise
    """A number from 1 on."""
    return value("N", meaning, type=partial(integer, 1, "a positive number"), **settings)


def several(metavar: str, dest: str, meaning: str) -> dict[str, Any]:
    """An option that may be given several times."""
    several_times = f"{meaning}; may be given several times"
    return value(metavar, several_times, dest=dest, action="append", default=[])


# Queries of modules, and their files.

A_MODULE: Final = "a module in HLO or StableHLO text, or in XLA's protobuf; also compressed (.gz)"
"""Kinds of files of a module."""

MODULES: Final[Options] = {
    "files": value("FILE", f"{A_MODULE}, a folder of them, or - for standard input", nargs="+"),
    "--jobs": value(
        "N",
        "read several files with this many processes; 0: one for each core",
        type=partial(integer, 0, "a number of processes, or 0"),
        default=1,
    ),
    "--strict": flag("exit with code 3 if something is unknown"),
}

_PATTERNS: Final = (
    ("instruction", "NAME", "answer for the instructions of this name only"),
    ("computation", "NAME", "answer for what stands in this computation only"),
    ("opcode", "OPCODE", "answer for the instructions of this kind only"),
    ("parameter", "NAME", "answer for what is read of the parameter or operand of this name only"),
)

_BY_PATTERN: Final[Options] = {
    f"--{option}": several(metavar, f"{option}s", f"{meaning}; * is any text")
    for option, metavar, meaning in _PATTERNS
}

MAX_LINES: Final = 300
"""Of a text for people: some screens."""

MAX_COLUMNS: Final = 400
"""Of a line for people: five lines of a terminal."""

ABOUT_MODULES: Final[Options] = _BY_PATTERN | {
    "--unknown": flag("print only answers in which something is unknown"),
    "--limit --top": number("print at most this many answers about each module"),
    "--all": flag(f"print each answer on its own, and more than {MAX_LINES} lines"),
    "--long": flag(f"print lines of more than {MAX_COLUMNS} characters, and whole domains of maps"),
}
"""The fields of a :class:`Selection`, and how much is printed: for all commands about modules."""


def sorted_by(default: str, columns: Iterable[str]) -> Options:
    """The order of the rows of a table: by default that of its query."""
    orders = dict.fromkeys((default, *columns, documents.AS_MODULE))
    meaning = "the column whose greatest number comes first (default: %(default)s)"
    return {"--sort": choice(orders, meaning)}


VIEWS: Final[Options] = {
    "--direction": choice(maps.DIRECTIONS, "from each result to what it needs (default), or back"),
    "--physical-layout": flag("use the dimensions in memory, after tiles are cut"),
    "--linear-offsets": flag("lead to offsets in memory, counted in elements"),
    "--minimal": flag("leave out maps that another map to the same array contains"),
}
"""The fields of a :class:`View`, and which maps: for all commands about maps between tensors."""

SECONDS_OF_MODULE: Final[Options] = {
    "--seconds": value(
        "S",
        "what a module may take until counts are bounds (default: %(default)g)",
        type=seconds,
        default=SECONDS,
    )
}


def device_of(what: str) -> Options:
    """The device that an answer is about."""
    return {"--device": choice(DEVICES, f"the device whose {what} count (default: %(default)s)")}


UNROLL: Final[Options] = {
    "--unroll": number("how many neighbours a thread handles at a time (default: 1)", default=1)
}


def without(options: Options, *names: str) -> Options:
    """The options but for some."""
    return {name: each for name, each in options.items() if name not in names}


def gathered(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command, where a value takes the place of those that are its fields."""
    found = dict(options)
    for name, kind in (("selection", Selection), ("view", maps.View)):
        names = [field.name for field in fields(kind)]
        if names[0] in found:
            found[name] = kind(**{each: found.pop(each) for each in names if each in found})
    return found


# The run of a command, and the table of commands.


FINE: Final = 0
INPUT_ERROR: Final = 1
"""An input is wrong or missing; wrong arguments exit with 2."""
OUTPUT_ERROR: Final = 1
"""The answer cannot be written, as on a full disk."""
UNKNOWN: Final = 3
"""Something is unknown, with ``--strict``."""


def main(argv: Sequence[str]) -> int:
    """Run the command that the arguments name; see :func:`ops.cli.main`."""
    try:
        with warnings.catch_warnings():
            show_warnings()
            code = _run(_parsed(argv))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return FINE
    except OSError as error:
        _forget_output()
        report(f"error: the answer cannot be written: {error.strerror}")
        return OUTPUT_ERROR
    except KeyboardInterrupt:
        report("interrupted")
        return INTERRUPTED
    return code


def _run(arguments: _Arguments) -> int:
    has_text = not arguments.json or arguments.command.is_for_programs
    is_for_people = has_text and not arguments.command.is_for_programs
    look = look_of(sys.stdout, arguments.color) if is_for_people else PLAIN
    as_text = partial(documents.as_text, extent=arguments.extent)
    console = Console(as_text if has_text else documents.as_json, look, arguments.color)
    document = arguments.document(console)
    pieces = console.pieces(document)
    if is_for_people and arguments.extent.is_brief:
        pieces = documents.limited(pieces, MAX_LINES, "--all, --limit N, or --instruction NAME")
    for piece in pieces:
        console.write(piece)
    if is_for_people and document.nothing and console.is_silent and not console.has_errors:
        console.write(document.nothing)
    if console.has_errors:
        return INPUT_ERROR
    return UNKNOWN if arguments.strict and console.has_unknown else FINE


def _forget_output() -> None:
    """Nobody reads any more, or the disk is full: drop the rest of the output, also at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Arguments.


class _Arguments(argparse.Namespace):
    """The command, its options, and how to print."""

    command: _Command
    parser: _Parser
    json: bool = False
    color: str = COLORS[0]
    strict: bool = False
    all: bool = True
    long: bool = False

    @property
    def extent(self) -> Extent:
        """How much is printed; commands without these options print everything."""
        columns = None if self.long or not hasattr(self, "limit") else MAX_COLUMNS
        return Extent(not self.all, columns, is_long=self.long)

    def document(self, console: Console) -> Document:
        """The document of the command."""
        how_to_run = _Arguments.__annotations__
        options = {name: value for name, value in vars(self).items() if name not in how_to_run}
        document = self.command.run(console=console, **gathered(options))
        name = self.parser.prog.rpartition(" ")[2]
        about = {"schema_version": documents.SCHEMA_VERSION, "command": name}
        return replace(document, fields=about | document.fields)


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: its function and its arguments."""

    run: Callable[..., Document]
    arguments: Options = field(default_factory=dict[str, Any])
    is_for_programs: bool = False
    """Whether its text is JSON."""


_RENDERING: Final[Options] = {
    "--json": flag("print one JSON document"),
    "--color": choice(
        COLORS, "colour names and what is unknown: on a terminal (default), always or never"
    ),
}
"""The options of all commands."""


def about_modules(
    query: Callable[..., SelectedQuery], *own: Options, about: Options = ABOUT_MODULES
) -> _Command:
    """The command of a query of modules, whose fields are the options of the command."""

    def run(*, files: Sequence[str], jobs: int, console: Console, **options: object) -> Document:
        return answer_files(query(**options), files, jobs, console)

    options = MODULES | about
    for each in own:
        options |= each
    return _Command(run, options)


_ABOUT_TWO: Final = without(ABOUT_MODULES, "--parameter", "--unknown")
"""The options of commands that may compare two modules."""

COMMANDS: Final = {
    "summary": about_modules(
        kernels.KernelSummaries,
        SECONDS_OF_MODULE,
        sorted_by("bytes", kernels.OF_KERNELS[:-1]),
        {"--advise": flag("name what advise has to say about each kernel")},
    ),
    "maps": about_modules(maps.InstructionMaps, VIEWS),
    "fusions": about_modules(maps.FusionMaps, VIEWS),
    "why": about_modules(
        kernels.InstructionReasons,
        {
            "--element": value("I,J", "only what this element of the result needs", type=index),
            "--needs": value(
                "I,J", "only why this element of what is read is needed", dest="needed", type=index
            ),
            "--paths": number(
                "print this many of the shortest paths of each map (default: %(default)s)",
                default=FEW_PATHS,
            ),
        },
    ),
    "reads": _Command(
        reads,
        MODULES
        | ABOUT_MODULES
        | {
            "--tile": value(
                "SIZES", "the sizes of a tile, such as 8x128 (default: one element)", type=sizes
            ),
            "--element --at": value(
                "I,J",
                "print what this element of the result, or the tile of this number, reads",
                type=index,
                dest="at",
            ),
            "-o": value(
                "FILE.svg",
                "draw what this tile, or all of the result, reads; of one instruction",
                dest="picture",
            ),
        },
    ),
    "schedule": about_modules(kernels.FusionSchedules, UNROLL),
    "loops": about_modules(
        kernels.ModuleLoops, sorted_by(documents.AS_MODULE, kernels.OF_LOOPS[:1])
    ),
    "diff": _Command(
        diff,
        {
            "before": value("BEFORE", f"{A_MODULE}, or a folder with one between any two passes"),
            "after": value("AFTER", "the other one; one may be -, standard input", nargs="?"),
        }
        | _ABOUT_TWO
        | SECONDS_OF_MODULE
        | sorted_by(documents.AS_MODULE, OF_PASSES[:-1]),
    ),
    "coalescing": about_modules(
        kernels.FusionCoalescing,
        UNROLL,
        device_of("sectors and warps"),
        sorted_by("wasted", kernels.OF_ACCESSES[:-1]),
    ),
    "utilization": about_modules(
        kernels.KernelUtilization, SECONDS_OF_MODULE, sorted_by("wasted", kernels.OF_OPERANDS[:-1])
    ),
    "tiles": about_modules(
        kernels.KernelTiles,
        {
            "--instruction --fusion": several(
                "NAME",
                "instructions",
                "print several tilings of the instructions of this name, with tiles of arrays",
            )
        },
        device_of("memory"),
        sorted_by("best", kernels.OF_TILINGS[:-1]),
        about=without(ABOUT_MODULES, "--instruction"),
    ),
    "advise": _Command(
        advice,
        {
            "before": value("FILE", A_MODULE),
            "after": value("AFTER", "a later one: print only what it wastes more", nargs="?"),
        }
        | _ABOUT_TWO
        | SECONDS_OF_MODULE
        | device_of("figures"),
    ),
    "simplify": _Command(
        simplify,
        {
            "file": value(
                "FILE",
                "a file of maps; standard input if it is - or missing",
                nargs="?",
                default="-",
            ),
            "-e --expression": several("TEXT", "texts", "simplify this map or expression"),
        },
    ),
    "layout": _Command(
        layout,
        {
            "shape": value("SHAPE", "the shape of an array in HLO text"),
            "-o": value("FILE.svg", "write a picture", dest="output"),
        },
    ),
    "explore": _Command(
        explore,
        {
            "file": value("FILE", f"{A_MODULE}, or - for standard input"),
            "-o": value("FILE.html", "write the page to this file", dest="output", required=True),
        },
    ),
    "example": _Command(
        example,
        {"name": value("NAME", "which one; without a name, all are listed", nargs="?", default="")},
    ),
    "schema": _Command(schema, is_for_programs=True),
}


def _parsed(argv: Sequence[str]) -> _Arguments:
    """Parse the arguments; exits if they make no sense."""
    parser, of_commands = parsers(_Parser)
    for name, command in COMMANDS.items():
        _declare(of_commands[name], command)
    found, left = parser.parse_known_args(argv, _Arguments())
    if left:
        listed = (*found.command.arguments, *_RENDERING)
        hint = nearby(left[0], [name for names in listed for name in names.split()]) or "see --help"
        found.parser.error(f"unrecognized arguments: {' '.join(left)}; {hint}")
    return found


class _Parser(argparse.ArgumentParser):
    """Parser whose errors say the faulty argument, whatever characters it has."""

    def error(self, message: str) -> NoReturn:
        """Print it and exit."""
        super().error(PLAIN.of(message))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a command that is none, with the nearest one."""
        if action.choices is not None and value not in action.choices:
            names = [*action.choices]
            hint = nearby(str(value), names) or f"expected one of {', '.join(names)}"
            raise argparse.ArgumentError(None, f"there is no command {value}; {hint}")


def _declare(parser: _Parser, command: _Command) -> None:
    """Give the parser of a command its options."""
    for names, settings in (command.arguments | _RENDERING).items():
        parser.add_argument(*names.split(), **settings)
    parser.set_defaults(command=command, parser=parser)

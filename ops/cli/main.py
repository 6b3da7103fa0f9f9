"""The command line: a table of commands with their arguments, and how one of them runs."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from indexing.startup import INTERRUPTED, version
from ops.cli.commands import about_modules, diff, layout, reads, schema, simplify
from ops.cli.console import Console, report
from ops.cli.documents import as_json, as_text
from ops.cli.examples import example
from ops.cli.explorer_file import explore
from ops.cli.kernel_questions import FusionSchedules, InstructionReasons
from ops.cli.loop_questions import ModuleLoops
from ops.cli.map_questions import FusionMaps, InstructionMaps
from ops.cli.memory_questions import (
    ORDERS,
    WITH_WARPS,
    FusionCoalescing,
    KernelSummaries,
    KernelTiles,
    KernelUtilization,
)
from ops.cli.options import (
    A_MODULE,
    FILTERS,
    LONG,
    MODULES,
    SECONDS_OF_MODULE,
    UNROLL,
    VIEWS,
    choice,
    flag,
    gathered,
    index,
    number,
    several,
    sizes,
    value,
    without,
)
from ops.cli.terminal import COLORS, PLAIN, look_of
from ops.fusion.reasons import FEW_PATHS
from ops.performance import DEVICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ops.cli.documents import Document, Rendering
    from ops.cli.options import Options

_PROGRAM: Final = "python -m indexing"

FINE: Final = 0
INPUT_ERROR: Final = 1
"""An input is wrong or missing; wrong arguments exit with 2."""
OUTPUT_ERROR: Final = 1
"""The answer cannot be written, as on a full disk."""
UNKNOWN: Final = 3
"""Something is unknown, with ``--strict``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, those of the process by default; the exit code.

    Answers go to standard output, messages and the progress bar to standard error.

    Raises:
        SystemExit: with code 2 for arguments that make no sense, with code 0 after ``--help``.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
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


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    report(f"warning: {message}")


def _run(arguments: _Arguments) -> int:
    is_for_people = not arguments.json and arguments.renderings[0] is not arguments.renderings[1]
    look = look_of(sys.stdout, arguments.color) if is_for_people else PLAIN
    console = Console(arguments.renderings[arguments.json], look, arguments.color)
    document = arguments.document(console)
    for piece in console.pieces(document):
        console.write(piece)
    if console.has_errors:
        return INPUT_ERROR
    return UNKNOWN if arguments.strict and console.has_unknown else FINE


def _forget_output() -> None:
    """Nobody reads any more, or the disk is full: drop what is left to write, also at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Arguments.


class _Arguments(argparse.Namespace):
    """The function of a command, its options, and how to print."""

    run: Callable[..., Document]
    renderings: tuple[Rendering, Rendering]
    json: bool = False
    color: str = COLORS[0]
    strict: bool = False

    def document(self, console: Console) -> Document:
        """The document of the command."""
        how_to_run = ("run", "renderings", "json", "color", "strict")
        options = {name: value for name, value in vars(self).items() if name not in how_to_run}
        return self.run(console=console, **gathered(options))


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: its function, a summary, examples for the help, and its arguments.

    ``renderings`` are those without and with ``--json``.
    """

    run: Callable[..., Document]
    summary: str
    examples: tuple[str, ...]
    arguments: Options = field(default_factory=dict[str, Any])
    renderings: tuple[Rendering, Rendering] = (as_text, as_json)


_RENDERING: Final[Options] = {
    "--json": flag("print one JSON document"),
    "--color": choice(
        COLORS, "colour names and what is unknown: on a terminal (default), always or never"
    ),
}
"""The options of all commands."""

_COMMANDS: Final = {
    "summary": _Command(
        about_modules("summary", KernelSummaries),
        "print the kernels of modules at a glance: what each reads and writes, and how",
        (
            "summary examples/softmax.hlo",
            "summary examples/transformer_block_fwd.hlo --sort reuse --top 5",
            "summary examples --opcode fusion --json",
        ),
        MODULES
        | without(FILTERS, "--limit")
        | {"--limit --top": FILTERS["--limit"]}
        | SECONDS_OF_MODULE
        | {
            "--sort": choice(ORDERS, "what the first kernel has most of (default: %(default)s)"),
        },
    ),
    "maps": _Command(
        about_modules("maps", InstructionMaps),
        "print the indexing maps of every instruction of modules, or of one",
        (
            "maps examples/softmax.hlo",
            "maps examples/softmax.hlo --instruction ynn_fusion --json",
            "maps examples/softmax.hlo --direction input-to-output",
            "maps examples/softmax.hlo --linear-offsets",
            "maps examples --jobs 2 --json",
        ),
        MODULES | FILTERS | VIEWS | LONG,
    ),
    "fusions": _Command(
        about_modules("fusions", FusionMaps),
        "print the maps from root to parameters: of the entry, and of each fusion of modules",
        (
            "fusions examples/softmax.hlo",
            "fusions examples/softmax.hlo --json",
            "fusions examples/softmax.hlo --minimal",
            "fusions examples --jobs 0",
        ),
        MODULES
        | FILTERS
        | VIEWS
        | LONG
        | {
            "--minimal": flag("leave out maps that another map to the same array contains"),
        },
    ),
    "why": _Command(
        about_modules("why", InstructionReasons),
        "print why instructions need what they read: the instructions on the way to each map",
        (
            "why examples/softmax.hlo --instruction ynn_fusion.1",
            "why examples/softmax.hlo --instruction ynn_fusion --parameter x.1",
            "why examples/softmax.hlo --instruction ynn_fusion.1 --element 0,0,0 --needs 0,0,5",
        ),
        MODULES
        | FILTERS
        | {
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
        "print what each element or tile of the results of instructions reads of each operand",
        (
            "reads examples/softmax.hlo",
            "reads examples/softmax.hlo --instruction ynn_fusion.1 --tile 1x8x128",
            "reads examples/softmax.hlo --instruction ynn_fusion.1 --at 3,4,5",
        ),
        MODULES
        | FILTERS
        | {
            "--tile": value(
                "SIZES", "the sizes of a tile, such as 8x128 (default: one element)", type=sizes
            ),
            "--at": value(
                "I,J", "print the elements that the tile of this number reads", type=index
            ),
            "-o": value(
                "FILE.svg",
                "draw what this tile, or all of the result, reads; of one instruction",
                dest="picture",
            ),
        },
    ),
    "schedule": _Command(
        about_modules("schedule", FusionSchedules),
        "print what each thread of a GPU reads and writes for each fusion",
        (
            "schedule examples/softmax.hlo",
            "schedule examples/softmax.hlo --unroll 4 --json",
        ),
        MODULES | FILTERS | UNROLL,
    ),
    "loops": _Command(
        about_modules("loops", ModuleLoops),
        "print how often each loop runs, what it counts, and which iterations need earlier ones",
        (
            "loops examples/running_sum.hlo",
            "loops examples --json",
        ),
        MODULES | FILTERS,
    ),
    "diff": _Command(
        diff,
        "print what changed between two modules: instructions that came and went, maps, bytes",
        (
            "diff examples/softmax.hlo examples/layernorm.hlo",
            "diff examples/softmax.hlo examples/layernorm.hlo --opcode fusion --json",
        ),
        {
            "before": value("BEFORE", A_MODULE),
            "after": value("AFTER", "the other one; one may be -, standard input"),
        }
        | without(FILTERS, "--parameter", "--unknown")
        | SECONDS_OF_MODULE,
    ),
    "coalescing": _Command(
        about_modules("coalescing", FusionCoalescing),
        "print what the warps of each fusion load from memory, the most wasteful access first",
        (
            "coalescing gpu_module.hlo",
            "coalescing gpu_module.hlo --device H100 --unroll 4 --json",
        ),
        MODULES
        | FILTERS
        | UNROLL
        | {
            "--device": choice(
                WITH_WARPS, "the device whose sectors and warps count (default: %(default)s)"
            ),
        },
    ),
    "utilization": _Command(
        about_modules("utilization", KernelUtilization),
        "print how much of its operands each kernel uses, and what it reads again",
        (
            "utilization examples/softmax.hlo",
            "utilization examples --seconds 60 --json",
        ),
        MODULES | FILTERS | SECONDS_OF_MODULE,
    ),
    "tiles": _Command(
        about_modules("tiles", KernelTiles),
        "print the tile sizes of each kernel that move the fewest bytes on a device",
        (
            "tiles examples/softmax.hlo",
            "tiles examples/softmax.hlo --fusion ynn_fusion --device H100 --limit 3",
        ),
        MODULES
        | without(FILTERS, "--limit")
        | {
            "--fusion": value(
                "NAME", "several tilings of this instruction only, with the tiles of its arrays"
            ),
            "--device": choice(DEVICES, "the device whose memory counts (default: %(default)s)"),
            "--limit": number(
                "how many tilings of each kernel (default: 1, or 10 with --fusion)", dest="most"
            ),
        },
    ),
    "simplify": _Command(
        simplify,
        "simplify maps in XLA's text and bare expressions, which are separated by lines of ---",
        (
            "simplify maps.txt",
            "simplify -e 'd0 mod 8 + d0 floordiv 8 * 8' -e 'd0 mod 8, domain: d0 in [0, 7]'",
            "echo '(d0) -> (d0 mod 8), domain: d0 in [0, 7]' | python -m indexing simplify",
        ),
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
        "print where the elements of an array lie in memory: words, sizes, maps, offsets",
        (
            "layout 'f32[3,5]{1,0:T(2,2)}'",
            "layout 'bf16[4,8]{1,0:T(2,4)(2,1)}' -o layout.svg",
        ),
        {
            "shape": value("SHAPE", "the shape of an array in HLO text"),
            "-o": value("FILE.svg", "write a picture", dest="output"),
        },
    ),
    "explore": _Command(
        explore,
        "write a page to look at a module: its graphs, its text, and what each element reads",
        (
            "explore examples/softmax.hlo -o page.html",
            "python -m indexing example mha_causal | python -m indexing explore - -o page.html",
        ),
        {
            "file": value("FILE", f"{A_MODULE}, or - for standard input"),
            "-o": value("FILE.html", "write the page to this file", dest="output", required=True),
        },
    ),
    "example": _Command(
        example,
        "print an example that comes with the library, a module or a pass, or list them",
        (
            "example softmax",
            "example cancel_moves",
            "example",
        ),
        {"name": value("NAME", "which one; without a name, all are listed", nargs="?", default="")},
    ),
    "schema": _Command(
        schema,
        "print the JSON Schema of the documents that the other commands print with --json",
        ("schema",),
        renderings=(as_text, as_text),
    ),
}


def _parsed(argv: Sequence[str] | None) -> _Arguments:
    """Parse the arguments, those of the process by default; exits if they make no sense."""
    parser = _Parser(
        prog=_PROGRAM,
        description="Which elements of one tensor are needed for which elements of another.",
        epilog=_epilog(command.examples[0] for command in _COMMANDS.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        _declare(commands, name, command)
    return parser.parse_args(argv, _Arguments())


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with arguments, whatever characters they have."""

    def error(self, message: str) -> NoReturn:
        """Print it and exit."""
        super().error(PLAIN.of(message))


class _ShowVersion(argparse.Action):
    """Prints the version, and looks it up only then."""

    def __init__(self, option_strings: Sequence[str], help: str, **_: object) -> None:  # noqa: A002 - argparse's names
        super().__init__(
            option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it and exit."""
        print(version())
        parser.exit()


def _declare(commands: Any, name: str, command: _Command) -> None:  # noqa: ANN401 - argparse's own is private
    parser = commands.add_parser(
        name,
        help=command.summary,
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog=_epilog(command.examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for names, settings in (command.arguments | _RENDERING).items():
        parser.add_argument(*names.split(), **settings)
    parser.set_defaults(run=command.run, renderings=command.renderings)


def _epilog(examples: Iterable[str]) -> str:
    calls = (text if _PROGRAM in text else f"{_PROGRAM} {text}" for text in examples)
    return "\n".join(["examples:", *(f"  {call}" for call in calls)])

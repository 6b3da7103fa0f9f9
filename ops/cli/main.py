"""The command line: a table of commands with their arguments, and how one of them runs."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field, fields
from math import inf, nan
from typing import TYPE_CHECKING, Any, Final

from indexing.startup import INTERRUPTED
from ops.cli.commands import (
    coalescing,
    fusions,
    layout,
    maps,
    schema,
    simplify,
    summary,
    tiles,
    utilization,
)
from ops.cli.console import Console, report
from ops.cli.documents import ErrorLog, as_json, as_text
from ops.cli.memory_questions import ORDERS, WITH_WARPS
from ops.cli.module_questions import DIRECTIONS
from ops.cli.selection import Selection
from ops.performance import DEVICES
from ops.performance.utilization import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ops.cli.documents import Document, Rendering

_PROGRAM: Final = "python -m indexing"
_DISTRIBUTION: Final = "symbolic-indexing"

FINE: Final = 0
INPUT_ERROR: Final = 1
"""An input is wrong or missing; wrong arguments exit with 2."""
OUTPUT_ERROR: Final = 1
"""The answer cannot be written, as on a full disk."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, those of the process by default; the exit code.

    Answers go to standard output, messages and the progress bar to standard error.

    Raises:
        SystemExit: with code 2 for arguments that make no sense, with code 0 after ``--help``.
    """
    try:
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
    console = Console(arguments.renderings[arguments.json])
    document = arguments.document(console)
    for piece in console.rendering(document, ErrorLog(console.report_error)):
        console.write(piece)
    return INPUT_ERROR if console.has_errors else FINE


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

    def document(self, console: Console) -> Document:
        """The document of the command."""
        how_to_run = ("run", "renderings", "json")
        options = {name: value for name, value in vars(self).items() if name not in how_to_run}
        patterns = {name: options.pop(name) for name in _PATTERNS if name in options}
        if patterns:
            options["selection"] = Selection(**patterns)
        return self.run(console=console, **options)


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: its function, a summary, examples for the help, and its arguments.

    ``renderings`` are those without and with ``--json``.
    """

    run: Callable[..., Document]
    summary: str
    examples: tuple[str, ...]
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    renderings: tuple[Rendering, Rendering] = (as_text, as_json)


def _jobs(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of processes, or 0, not {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a positive number, not {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = nan
    if not 0 <= seconds < inf:
        raise argparse.ArgumentTypeError(f"expected a number of seconds, not {text!r}")
    return seconds


_MODULES: Final = {
    "files": {
        "metavar": "FILE",
        "nargs": "+",
        "help": "a module in HLO text, which may be compressed (.gz), a folder of them, "
        "or - for standard input",
    },
    "--jobs": {
        "metavar": "N",
        "type": _jobs,
        "default": 1,
        "help": "read several files with this many processes; 0: one for each core",
    },
}

_SECONDS: Final = {
    "metavar": "S",
    "type": _seconds,
    "default": SECONDS,
    "help": "what a module may take until counts are bounds (default: %(default)g)",
}

_LONG: Final = {
    "action": "store_true",
    "help": "print whole domains, a line for each bound, also those that shapes tell",
}

_PATTERNS: Final = tuple(field.name for field in fields(Selection))

_SELECTION: Final[Mapping[str, Mapping[str, Any]]] = {
    f"--{option}": {
        "dest": f"{option}s",
        "metavar": metavar,
        "action": "append",
        "default": [],
        "help": f"{meaning}; * is any text; may be given several times",
    }
    for option, metavar, meaning in (
        ("instruction", "NAME", "answer for the instructions of this name only"),
        ("computation", "NAME", "answer for what stands in this computation only"),
        ("opcode", "OPCODE", "answer for the instructions of this kind only"),
    )
}
"""The options that are the fields of a :class:`Selection`."""

_COMMANDS: Final = {
    "summary": _Command(
        summary,
        "print the kernels of modules at a glance: what each reads and writes, and how",
        (
            "summary examples/softmax.hlo",
            "summary examples/transformer_block_fwd.hlo --sort reuse --top 5",
            "summary examples --opcode fusion --json",
        ),
        _MODULES
        | _SELECTION
        | {
            "--sort": {
                "choices": list(ORDERS),
                "default": ORDERS[0],
                "help": "what the first kernel has most of (default: %(default)s)",
            },
            "--top": {
                "metavar": "N",
                "type": _positive,
                "help": "print this many kernels of each module only",
            },
            "--unknown": {
                "action": "store_true",
                "help": "print only the kernels of which something is unknown",
            },
            "--seconds": _SECONDS,
        },
    ),
    "maps": _Command(
        maps,
        "print the indexing maps of every instruction of modules, or of one",
        (
            "maps examples/softmax.hlo",
            "maps examples/softmax.hlo --instruction ynn_fusion --json",
            "maps examples/softmax.hlo --direction input-to-output",
            "maps examples/softmax.hlo --linear-offsets",
            "maps examples --jobs 2 --json",
        ),
        _MODULES
        | _SELECTION
        | {
            "--direction": {
                "choices": list(DIRECTIONS),
                "default": next(iter(DIRECTIONS)),
                "help": "from each result to the operands (default), or back",
            },
            "--physical-layout": {
                "action": "store_true",
                "help": "use the dimensions in memory, after tiles are cut",
            },
            "--linear-offsets": {
                "action": "store_true",
                "help": "lead to offsets in memory, counted in elements",
            },
            "--long": _LONG,
        },
    ),
    "fusions": _Command(
        fusions,
        "print the maps from root to parameters: of the entry, and of each fusion of modules",
        (
            "fusions examples/softmax.hlo",
            "fusions examples/softmax.hlo --json",
            "fusions examples/softmax.hlo --minimal",
            "fusions examples --jobs 0",
        ),
        _MODULES
        | _SELECTION
        | {
            "--minimal": {
                "action": "store_true",
                "help": "leave out maps that another map to the same array contains",
            },
            "--long": _LONG,
        },
    ),
    "coalescing": _Command(
        coalescing,
        "print what the warps of each fusion load from memory, the most wasteful access first",
        (
            "coalescing gpu_module.hlo",
            "coalescing gpu_module.hlo --device H100 --unroll 4 --json",
        ),
        _MODULES
        | _SELECTION
        | {
            "--device": {
                "choices": list(WITH_WARPS),
                "default": WITH_WARPS[0],
                "help": "the device whose sectors and warps count (default: %(default)s)",
            },
            "--unroll": {
                "metavar": "N",
                "type": _positive,
                "default": 1,
                "help": "how many neighbours a thread handles at a time (default: 1)",
            },
        },
    ),
    "utilization": _Command(
        utilization,
        "print how much of its operands each kernel uses, and what it reads again",
        (
            "utilization examples/softmax.hlo",
            "utilization examples --seconds 60 --json",
        ),
        _MODULES | _SELECTION | {"--seconds": _SECONDS},
    ),
    "tiles": _Command(
        tiles,
        "print the tile sizes of each kernel that move the fewest bytes on a device",
        (
            "tiles examples/softmax.hlo",
            "tiles examples/softmax.hlo --fusion ynn_fusion --device H100 --limit 3",
        ),
        _MODULES
        | {
            "--fusion": {
                "metavar": "NAME",
                "help": "several tilings of this instruction only, with the tiles of its arrays",
            },
            "--device": {
                "choices": list(DEVICES),
                "default": next(iter(DEVICES)),
                "help": "the device whose memory counts (default: %(default)s)",
            },
            "--limit": {
                "metavar": "N",
                "type": _positive,
                "help": "how many tilings of each kernel (default: 1, or 10 with --fusion)",
            },
        },
    ),
    "simplify": _Command(
        simplify,
        "simplify maps in XLA's text, which are separated by lines of ---",
        (
            "simplify maps.txt",
            "echo '(d0) -> (d0 mod 8), domain: d0 in [0, 7]' | python -m indexing simplify",
        ),
        {
            "file": {
                "metavar": "FILE",
                "nargs": "?",
                "default": "-",
                "help": "a file of maps; standard input if it is - or missing",
            }
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
            "shape": {"metavar": "SHAPE", "help": "the shape of an array in HLO text"},
            "-o": {"dest": "output", "metavar": "FILE.svg", "help": "write a picture"},
        },
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
    parser = argparse.ArgumentParser(
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


class _ShowVersion(argparse.Action):
    """Prints the version, and looks it up only then."""

    def __init__(self, option_strings: Sequence[str], help: str, **_: object) -> None:  # noqa: A002 - argparse's names
        super().__init__(
            option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it and exit."""
        print(_DISTRIBUTION, _version())
        parser.exit()


def _declare(commands: Any, name: str, command: _Command) -> None:  # noqa: ANN401 - argparse's own is private
    parser = commands.add_parser(
        name,
        help=command.summary,
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog=_epilog(command.examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for flag, settings in command.arguments.items():
        parser.add_argument(flag, **settings)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=command.run, renderings=command.renderings)


def _epilog(examples: Iterable[str]) -> str:
    calls = (text if _PROGRAM in text else f"{_PROGRAM} {text}" for text in examples)
    return "\n".join(["examples:", *(f"  {call}" for call in calls)])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - few ask

    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "(not installed)"

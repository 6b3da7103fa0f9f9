"""The names of the commands, and what each is for: all that ``--help`` prints.

Functions and options of the commands, in ``commands.py``, need the analyses of the library.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from indexing.startup import version

ParserT = TypeVar("ParserT", bound=argparse.ArgumentParser)


USAGES: Final[Mapping[str, Sequence[str]]] = {
    "summary": (
        "print the kernels of modules at a glance: what each reads and writes, and how",
        "summary examples/softmax.hlo",
        "summary examples/transformer_block_fwd.hlo --sort reuse --top 5",
        "summary examples/transformer_block_fwd.hlo --advise --top 5",
        "summary examples --opcode fusion --json",
    ),
    "maps": (
        "print the indexing maps of every instruction of modules, or of one",
        "maps examples/softmax.hlo",
        "maps examples/softmax.hlo --instruction ynn_fusion --json",
        "maps examples/softmax.hlo --direction input-to-output",
        "maps examples/softmax.hlo --linear-offsets",
        "maps examples --jobs 2 --json",
    ),
    "fusions": (
        "print the maps from root to parameters: of the entry, and of each fusion of modules",
        "fusions examples/softmax.hlo",
        "fusions examples/softmax.hlo --json",
        "fusions examples/softmax.hlo --minimal",
        "fusions examples --jobs 0",
    ),
    "why": (
        "print why instructions need what they read: the instructions on the way to each map",
        "why examples/softmax.hlo --instruction ynn_fusion.1",
        "why examples/softmax.hlo --instruction ynn_fusion --parameter x.1",
        "why examples/softmax.hlo --instruction ynn_fusion.1 --element 0,0,0 --needs 0,0,5",
    ),
    "reads": (
        "print what each element or tile of the results of instructions reads of each operand",
        "reads examples/softmax.hlo",
        "reads examples/softmax.hlo --instruction ynn_fusion.1 --tile 1x8x128",
        "reads examples/softmax.hlo --instruction ynn_fusion.1 --element 3,4,5",
    ),
    "schedule": (
        "print what each thread of a GPU reads and writes for each fusion",
        "schedule examples/softmax.hlo",
        "schedule examples/softmax.hlo --unroll 4 --json",
    ),
    "loops": (
        "print how often each loop runs, what it counts, and which iterations need earlier ones",
        "loops examples/running_sum.hlo",
        "loops examples --json",
    ),
    "diff": (
        "print what changed between two modules, or by each pass of a dump",
        "diff examples/softmax.hlo examples/layernorm.hlo",
        "diff examples/softmax.hlo examples/layernorm.hlo --opcode fusion --json",
    ),
    "coalescing": (
        "print what the warps of each fusion load from memory, the most wasteful access first",
        "coalescing gpu_module.hlo",
        "coalescing gpu_module.hlo --device H100 --unroll 4 --json",
    ),
    "utilization": (
        "print how much of its operands each kernel uses, and what it reads again",
        "utilization examples/softmax.hlo",
        "utilization examples --seconds 60 --json",
    ),
    "tiles": (
        "print the tile sizes of each kernel that move the fewest bytes on a device",
        "tiles examples/softmax.hlo",
        "tiles examples/softmax.hlo --instruction ynn_fusion --device H100 --limit 3",
    ),
    "advise": (
        "print what a module wastes, why, and what mends it, with exact figures before and after",
        "advise gpu_module.hlo --device A100",
        "advise before.hlo after.hlo --json",
    ),
    "simplify": (
        "simplify maps in XLA's text and bare expressions, which are separated by lines of ---",
        "simplify maps.txt",
        "simplify -e 'd0 mod 8 + d0 floordiv 8 * 8' -e 'd0 mod 8, domain: d0 in [0, 7]'",
        "echo '(d0) -> (d0 mod 8), domain: d0 in [0, 7]' | python -m indexing simplify",
    ),
    "layout": (
        "print where the elements of an array lie in memory: words, sizes, maps, offsets",
        "layout 'f32[3,5]{1,0:T(2,2)}'",
        "layout 'bf16[4,8]{1,0:T(2,4)(2,1)}' -o layout.svg",
    ),
    "explore": (
        "write a page to look at a module: its graphs, its text, and what each element reads",
        "explore examples/softmax.hlo -o page.html",
        "python -m indexing example mha_causal | python -m indexing explore - -o page.html",
    ),
    "example": (
        "print an example that comes with the library, a module or a pass, or list them",
        "example softmax",
        "example cancel_moves",
        "example",
    ),
    "schema": (
        "print the JSON Schema of the documents that the other commands print with --json",
        "schema",
    ),
}
"""What a command is for, in one line, and examples; the help of all shows the first."""

_PROGRAM: Final = "python -m indexing"


def parsers(kind: type[ParserT]) -> tuple[ParserT, Mapping[str, ParserT]]:
    """The parser of all arguments, and those of the commands, which have no options yet."""
    parser = kind(
        prog=_PROGRAM,
        description="Which elements of one tensor are needed for which elements of another.",
        epilog=_epilog(first for _, first, *_ in USAGES.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, help="print the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    return parser, {name: _parser_of(subparsers, name, usage) for name, usage in USAGES.items()}


def _parser_of(subparsers: Any, name: str, usage: Sequence[str]) -> Any:  # noqa: ANN401 - argparse's own are private
    summary, *examples = usage
    return subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_epilog(examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _epilog(examples: Iterable[str]) -> str:
    calls = (text if _PROGRAM in text else f"{_PROGRAM} {text}" for text in examples)
    return "\n".join(["examples:", *(f"  {call}" for call in calls)])


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

"""The options that several commands share, each said once, and how arguments are read."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import fields
from math import inf, nan
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ops.cli.map_questions import DIRECTIONS, View
from ops.cli.selection import Selection
from ops.performance.utilization import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Options: TypeAlias = "dict[str, dict[str, Any]]"
"""What argparse takes, by the names of an option; a space is between two names."""


# How arguments are read.


def jobs(text: str) -> int:
    """A number of processes, or 0."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"expected a number of processes, or 0, not {text!r}")
    return int(text)


def positive(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"expected a positive number, not {text!r}")
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
    return {"choices": choices, "default": choices[0], "help": meaning}


def value(metavar: str, meaning: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - argparse's
    """A text, or what argparse is told to make of it."""
    return {"metavar": metavar, "help": meaning} | settings


def number(meaning: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - likewise
    """A number from 1 on."""
    return value("N", meaning, type=positive, **settings)


def several(metavar: str, dest: str, meaning: str) -> dict[str, Any]:
    """An option that may be given several times."""
    several_times = f"{meaning}; may be given several times"
    return value(metavar, several_times, dest=dest, action="append", default=[])


# What is asked, and of what.

A_MODULE: Final = "a module in HLO or StableHLO text, or in XLA's protobuf; also compressed (.gz)"
"""What a file of a module may be."""

MODULES: Final[Options] = {
    "files": value("FILE", f"{A_MODULE}, a folder of them, or - for standard input", nargs="+"),
    "--jobs": value(
        "N",
        "read several files with this many processes; 0: one for each core",
        type=jobs,
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

FILTERS: Final[Options] = _BY_PATTERN | {
    "--unknown": flag("print only answers in which something is unknown"),
    "--limit": number("print at most this many answers about each module"),
}
"""The fields of a :class:`Selection`: all commands about instructions have these."""

VIEWS: Final[Options] = {
    "--direction": choice(DIRECTIONS, "from each result to what it needs (default), or back"),
    "--physical-layout": flag("use the dimensions in memory, after tiles are cut"),
    "--linear-offsets": flag("lead to offsets in memory, counted in elements"),
}
"""The fields of a :class:`View`: all commands that print maps between tensors have these."""

TOGETHER: Final[Mapping[str, type[Selection | View]]] = {"selection": Selection, "view": View}
"""The values that hold several options."""

SECONDS_OF_MODULE: Final[Options] = {
    "--seconds": value(
        "S",
        "what a module may take until counts are bounds (default: %(default)g)",
        type=seconds,
        default=SECONDS,
    )
}

UNROLL: Final[Options] = {
    "--unroll": number("how many neighbours a thread handles at a time (default: 1)", default=1)
}

LONG: Final[Options] = {
    "--long": flag("print whole domains, a line for each bound, also those that shapes tell")
}


def without(options: Options, *names: str) -> Options:
    """The options but for some."""
    return {name: each for name, each in options.items() if name not in names}


def gathered(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command, where a value takes the place of those that are its fields."""
    found = dict(options)
    for name, kind in TOGETHER.items():
        names = [field.name for field in fields(kind)]
        if names[0] in found:
            found[name] = kind(**{each: found.pop(each) for each in names if each in found})
    return found

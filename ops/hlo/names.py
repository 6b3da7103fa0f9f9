"""Finding instructions and computations: by exact name, by a pattern with ``*``, by near names."""

from __future__ import annotations

import difflib
from fnmatch import translate
from re import compile as compiled
from typing import TYPE_CHECKING, Protocol, TypeVar

from ops.hlo.errors import AmbiguousNameError, NoSuchComputationError, NoSuchInstructionError
from ops.hlo.opcodes import OPCODES, find_opcode
from simplifier.errors import ArgumentError, check_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name, without a percent sign."""
        ...


class HasOpcode(Named, Protocol):
    """An instruction."""

    @property
    def opcode(self) -> str:
        """The opcode."""
        ...


_N = TypeVar("_N", bound=Named)
_I = TypeVar("_I", bound=HasOpcode)

_MAX_CANDIDATES = 2000
"""Near names are looked for among the latest ones: comparing 2000 takes a tenth of a second."""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """The names that are like one that is not there, at most three."""
    return difflib.get_close_matches(name, list(dict.fromkeys(names))[-_MAX_CANDIDATES:], n=3)


def nearby(name: str, names: Iterable[str]) -> str:
    """A hint for a name that is not defined: the names that are like it.

    >>> nearby("constnat.1", ["add.1", "constant.1", "constant.2"])
    'did you mean constant.1 or constant.2?'
    """
    found = near_names(name, names)
    return f"did you mean {' or '.join(found)}?" if found else ""


def by_name(things: Iterable[_N]) -> dict[str, tuple[_N, ...]]:
    """Those that share a name, by name, in order."""
    found: dict[str, list[_N]] = {}
    for each in things:
        found.setdefault(each.name, []).append(each)
    return {name: tuple(several) for name, several in found.items()}


def bare(name: str, where: str) -> str:
    """A name without its percent sign.

    Raises:
        ArgumentError: it is no text.
    """
    check_type(name, str, f"{where}: the name", "a string, such as 'add.1'")
    return name.removeprefix("%")


def all_named(
    index: Mapping[str, tuple[_N, ...]], name: str, where: str, file: str = ""
) -> tuple[_N, ...]:
    """The instructions with a name, with or without ``%``.

    Raises:
        NoSuchInstructionError: there is none.
    """
    wanted = bare(name, where)
    if wanted not in index:
        raise NoSuchInstructionError(wanted, tuple(near_names(wanted, index)), file)
    return index[wanted]


def one_named(
    index: Mapping[str, tuple[_N, ...]],
    name: str,
    where: str,
    home_of: Callable[[_N], str],
    file: str = "",
) -> _N:
    """The only instruction with a name.

    Raises:
        NoSuchInstructionError: there is none.
        AmbiguousNameError: there are several, in the computations that ``home_of`` names.
    """
    first, *others = all_named(index, name, where, file)
    if others:
        raise AmbiguousNameError(first.name, [*map(home_of, (first, *others))])
    return first


def computation_named(computations: Sequence[_N], name: str, where: str) -> _N:
    """The computation with a name, with or without ``%``.

    Raises:
        NoSuchComputationError: there is none.
    """
    wanted = bare(name, where)
    found = next((each for each in computations if each.name == wanted), None)
    if found is None:
        near = near_names(wanted, [each.name for each in computations])
        raise NoSuchComputationError(wanted, tuple(near))
    return found


def matching(instructions: Iterable[_I], pattern: str, opcode: str | None) -> tuple[_I, ...]:
    """The instructions whose name matches a pattern with ``*``, ``?`` and ``[...]``, and an opcode.

    Raises:
        ArgumentError: there is no such opcode.
    """
    matches = compiled(translate(bare(pattern, "find"))).match
    if opcode is not None:
        check_opcode(opcode, "find")
    return tuple(
        each
        for each in instructions
        if (opcode is None or each.opcode == opcode) and matches(each.name)
    )


def check_opcode(opcode: str, where: str) -> None:
    """Raise an :class:`ArgumentError` unless there is an opcode of this name."""
    check_type(opcode, str, f"{where}: the opcode", "a string, such as 'add'")
    if find_opcode(opcode) is None:
        hint = nearby(opcode, OPCODES)
        raise ArgumentError(f"{where}: there is no opcode {opcode}" + f"; {hint}" * bool(hint))

"""What the maps of a program must be: what changes with each element, in both directions."""

from __future__ import annotations

import re

from ops import hlo
from simplifier.errors import IndexingError
from tests.ops.perturbation import Tally, tallies
from tests.ops.tested_computations import Subject, UnknownMapError


class NotRunError(Exception):
    """XLA does not run the program by itself."""


def wrapped(text: str) -> str:
    """The module with an entry that calls the one it had, so that there is a caller to ask."""
    module = hlo.parse(text)
    entry = module.entry
    parameters = [f"p{number} = {each.shape}" for number, each in enumerate(entry.parameters)]
    lines = [f"{each} parameter({number})" for number, each in enumerate(parameters)]
    names = ", ".join(f"p{number}" for number in range(len(parameters)))
    call = f"ROOT r = {entry.root.shape} call({names}), to_apply={entry.name}"
    body = re.sub(r"\nENTRY ", "\n", str(module))
    head = re.sub(r", entry_computation_layout=.*", "", body, count=1)
    return "\n".join([head, "ENTRY whole {", *lines, call, "}"])


def complaint(text: str, *, is_exact: bool = False) -> str | None:
    """What is wrong with the maps of a module, if something is.

    Raises:
        NotRunError: XLA does not run it.
    """
    try:
        caller = hlo.parse(wrapped(text)).entry.root
        subject = Subject(caller.attributes["to_apply"], caller)
        _ = subject.said, subject.said_back  # kept by the subject
    except UnknownMapError as error:
        return f"unknown: {error}"
    except IndexingError as error:
        return f"refused: {error}"
    except Exception as error:  # noqa: BLE001 - any exception at all is a find
        return f"{type(error).__name__}: {error}"
    try:
        seen = tallies(subject, trials=2, most=24)
    except (RuntimeError, NotImplementedError, IndexError) as error:
        raise NotRunError(str(error).splitlines()[0]) from error
    scalars = {number for number, shape in enumerate(subject.operands) if not shape.rank}
    # The value of padding is said to be everywhere: one map cannot leave out what is not padding.
    said = (_said_of(each, is_exact=is_exact and each.operand not in scalars) for each in seen)
    return next(filter(None, said), None)


def _said_of(tally: Tally, *, is_exact: bool) -> str | None:
    between = f"result {tally.output}, operand {tally.operand}"
    if tally.missed:
        return f"{between}: {tally.missed[0]} changed, but is not said to"
    if tally.one_way:
        return f"{between}: {tally.one_way[0]} is said in one direction only"
    if is_exact and not tally.is_exact:
        return f"{between}: of {tally.said} pairs that are said, {tally.felt} are felt"
    return None

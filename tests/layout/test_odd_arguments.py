"""Arguments of the wrong kind end in errors for people, wherever layouts and shapes are made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

import indexing.layout
from indexing.layout import ElementType, Layout, Shape
from simplifier.errors import IndexingError
from tests.cases import for_all

ODD: tuple[Any, ...] = (
    *(None, "x", b"a", -1, 0, 1.5, float("nan"), True, 10**30, object()),
    *((), [None], (None, 2), ((None, 2),), ((2, 2),), ((-1, 2),), (("a",),), {}, {1: 2}, (1, 0)),
)
"""What people pass by mistake; some of it is right in some places."""

ARRAY = Shape.parse("f32[4,8]{1,0:T(2,4)}")

FUNCTIONS: dict[str, Callable[..., object]] = {
    name: value
    for name, value in inspect.getmembers(indexing.layout, inspect.isfunction)
    if value.__module__.startswith("indexing.layout.")
}
METHODS = [name for name, _ in inspect.getmembers(Shape, inspect.isfunction) if name[0] != "_"]


def refused_or_answered(function: Callable[..., object], *args: object, **named: object) -> None:
    """Whatever else is raised fails the test."""
    with suppress(IndexingError):
        function(*args, **named)


@for_all([*inspect.signature(Layout).parameters, *inspect.signature(Shape).parameters])
def test_layouts_and_shapes(name: str) -> None:
    array = {"element_type": ElementType.F32, "dimensions": (4, 8)}
    for (make, given), odd in product(((Layout, {"minor_to_major": (1, 0)}), (Shape, array)), ODD):
        if name in inspect.signature(make).parameters:
            refused_or_answered(make, **{**given, name: odd})


def positional(function: Callable[..., object]) -> list[inspect.Parameter]:
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return [each for each in inspect.signature(function).parameters.values() if each.kind in kinds]


@for_all(FUNCTIONS)
def test_functions(function: Callable[..., object]) -> None:
    needed = [each for each in positional(function) if each.default is inspect.Parameter.empty]
    for given in product((ARRAY, *ODD), repeat=min(2, len(needed))):
        refused_or_answered(function, *given, *[ARRAY] * (len(needed) - 2))


@for_all(METHODS)
def test_methods(name: str) -> None:
    function = getattr(ARRAY, name)
    for odd in ODD:
        refused_or_answered(function, *[odd] * len(positional(function)))


def test_what_the_message_says() -> None:
    message = r"^Layout: a tile is \(None, 2\); expected a sequence of integers$"
    with pytest.raises(IndexingError, match=message):
        Layout((1, 0), tiles=((None, 2),))  # type: ignore[arg-type]

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
METHODS = [
    name for name, _ in inspect.getmembers(Shape, inspect.isfunction) if not name.startswith("_")
]


def refused_or_answered(function: Callable[..., object], *args: object, **named: object) -> None:
    """Whatever else is raised fails the test."""
    with suppress(IndexingError):
        function(*args, **named)


@pytest.mark.parametrize("name", inspect.signature(Layout).parameters)
def test_layouts(name: str) -> None:
    for odd in ODD:
        refused_or_answered(Layout, **{"minor_to_major": (1, 0), name: odd})


@pytest.mark.parametrize("name", inspect.signature(Shape).parameters)
def test_shapes(name: str) -> None:
    for odd in ODD:
        given = {"element_type": ElementType.F32, "dimensions": (4, 8)}
        refused_or_answered(Shape, **{**given, name: odd})


def positional(function: Callable[..., object]) -> list[str]:
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind in kinds]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function = FUNCTIONS[name]
    needed = [
        each
        for each in positional(function)
        if inspect.signature(function).parameters[each].default is inspect.Parameter.empty
    ]
    for given in product((ARRAY, *ODD), repeat=min(2, len(needed))):
        refused_or_answered(function, *given, *[ARRAY] * (len(needed) - 2))


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    function = getattr(ARRAY, name)
    for odd in ODD:
        refused_or_answered(function, *[odd] * len(positional(function)))


def test_what_the_message_says() -> None:
    with pytest.raises(IndexingError) as caught:
        Layout((1, 0), tiles=((None, 2),))  # type: ignore[arg-type]
    message = "Layout: a tile is (None, 2); expected a sequence of integers"
    assert str(caught.value) == message

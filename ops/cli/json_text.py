"""JSON as text, laid out as Python's own ``json.dumps(..., indent=2)`` does, many times as fast.

Time goes into maps, and most maps of a module are equal: what was written once is taken over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

Json: TypeAlias = "Written | dict[str, Json] | list[Json] | str | int | None"
"""What can be written."""

_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Written:
    """A value that is written already."""

    text: str


def dumped(value: Json, margin: str = "") -> str:
    r"""The text of a value, whose lines but the first begin with a margin.

    >>> print(dumped({"bounds": [0, None], "text": Written("[\n  1\n]")}))
    {
      "bounds": [
        0,
        null
      ],
      "text": [
        1
      ]
    }
    """
    if isinstance(value, Written):
        return moved(value.text, margin)
    if not value or not isinstance(value, dict | list):
        return json.dumps(value)
    inside = margin + _INDENT
    if isinstance(value, list):
        return _enclosed("[]", [dumped(each, inside) for each in value], margin)
    members = [f"{json.dumps(name)}: {dumped(each, inside)}" for name, each in value.items()]
    return _enclosed("{}", members, margin)


def moved(text: str, margin: str) -> str:
    """A text whose lines but the first begin with a margin."""
    return text.replace("\n", f"\n{margin}") if margin else text


def _enclosed(brackets: str, values: list[str], margin: str) -> str:
    opening, closing = brackets
    line = f"\n{margin}"
    return f"{opening}{line}{_INDENT}{f',{line}{_INDENT}'.join(values)}{line}{closing}"

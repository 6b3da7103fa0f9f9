"""What does not fit: maps of instructions are unknown, with the error, and builders raise it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from ops import InstructionIndexing, ShapeError, Unknown


def only_reason(answer: InstructionIndexing) -> str:
    """The place and the message of the error, the same for all operands."""
    (reason,) = {each.reason for each in answer.indexing if isinstance(each, Unknown)}
    assert all(isinstance(each, Unknown) for each in answer.indexing)
    return reason


def refusal(call: str, module: ModuleType, **more: Any) -> str:  # noqa: ANN401 - any names
    """What is said of a call, written in the public names of a module and in more names."""
    public: list[str] = vars(module)["__all__"]
    names = {name: getattr(module, name) for name in public}
    with pytest.raises(ShapeError) as caught:
        eval(call, names | more)  # noqa: S307 - of our own tables
    return str(caught.value)

"""How much work something is: in calls of functions, which are the same on every machine."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def calls_of(action: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's, until the action is done.

    Garbage of earlier actions is not collected meanwhile: that calls functions, too.
    """
    count = 0

    def watch(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    gc.collect()
    gc.disable()
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count

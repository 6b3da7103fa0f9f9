"""Modules in pickles: their text, compressed; a process that loads it twice holds one module."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from ops.hlo.module import HloModule
from ops.hlo.parser import parse

if TYPE_CHECKING:
    from collections.abc import Callable

_KNOWN: Final = WeakValueDictionary[tuple[str, str], HloModule]()
"""The modules that were packed or unpacked and are still in use, by text and file."""

_REMEMBERED: Final = 4
"""How many packed modules are kept, for the next of their instructions that is pickled."""


def module_of(text: str, file: str = "") -> HloModule:
    """The module that a text says: one that is in use already, if it was asked for or packed.

    >>> module = module_of("ENTRY e { p = f32[] parameter(0) }")
    >>> module_of("ENTRY e { p = f32[] parameter(0) }") is module
    True
    """
    known = _KNOWN.get((text, file))
    return _KNOWN.setdefault((text, file), parse(text, file)) if known is None else known


@lru_cache(maxsize=_REMEMBERED)
def packed(module: HloModule) -> tuple[Callable[..., HloModule], tuple[bytes, str]]:
    """How a pickle makes the module again."""
    _KNOWN[module.source, module.file] = module
    text = module.source.encode(errors="surrogatepass")
    return _unpacked, (zlib.compress(text, level=9), module.file)


def _unpacked(text: bytes, file: str) -> HloModule:
    return module_of(zlib.decompress(text).decode(errors="surrogatepass"), file)

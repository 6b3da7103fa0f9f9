"""Modules in protocol buffers: XLA's ``HloModuleProto``, alone or in an ``HloProto`` or a snapshot.

jaxlib reads the module and prints its text. It knows neither ``HloProto`` nor snapshots, so what is
around the module is taken off here.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final

from ops.hlo.errors import HloFileError

_FIRST_FIELD: Final = re.compile(rb"\x0a([\x80-\xff]{0,4}[\x00-\x7f])")
"""The tag of field 1, then the length of its content in digits of seven bits, the lowest first."""
_ENTRY_NAME: Final = b"\x12"
"""The tag of field 2: of a module, the name of its entry."""
_MAX_AROUND: Final = 2
"""Messages around a module: a snapshot holds an ``HloProto``, and that the module."""


def module_in(content: bytes) -> bytes | None:
    r"""The ``HloModuleProto`` in a message, or none: the message itself, or what it holds first.

    Field 1 of a module is its name, and field 2 the name of its entry. Field 1 of all that is
    around a module is the message inside, which begins with a field 1 itself.

    >>> module = b"\x0a\x01m\x12\x01e"
    >>> module_in(module) == module_in(b"\x0a\x06" + module) == module
    True
    >>> module_in(b"HloModule m") is None
    True
    """
    for _ in range(_MAX_AROUND + 1):
        start, stop = _first_field(content)
        if start == stop:
            return None
        inside = content[start:stop]
        if not inside.startswith(b"\n"):
            is_module = content[stop : stop + 1] == _ENTRY_NAME and inside.isascii()
            return content if is_module else None
        content = inside
    return None


def _first_field(content: bytes) -> tuple[int, int]:
    """Where the content of field 1 begins and ends, if a message begins with it."""
    found = _FIRST_FIELD.match(content)
    if found is None:
        return 0, 0
    length = sum((digit & 0x7F) << 7 * place for place, digit in enumerate(found[1]))
    return found.end(), found.end() + length


def text_of_module(module: bytes, file: str) -> str:
    """The HLO text of an ``HloModuleProto``, printed by jaxlib.

    Raises:
        HloFileError: with ``file``, if jaxlib is not installed or refuses the module.
    """
    try:
        native: Any = import_module("jaxlib._hlo")
    except ImportError:
        message = "reading a protobuf needs jaxlib: pip install 'symbolic-indexing[jax]'"
        raise HloFileError(file, f"{message}; XLA dumps text with --xla_dump_hlo_as_text") from None
    options = native.HloPrintOptions()
    options.print_large_constants = True
    try:
        return native.HloModule.from_serialized_hlo_module_proto(module).to_string(options)
    except RuntimeError as error:
        raise HloFileError(file, f"jaxlib does not read this protobuf: {error}") from None

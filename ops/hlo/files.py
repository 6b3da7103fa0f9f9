"""Files as text, and the modules in a folder."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

from ops.hlo.errors import HloFileError
from simplifier.errors import check_type

_MODULES: Final = (".hlo", ".hlo.gz", ".mlir", ".mlir.gz")
_MAYBE_MODULES: Final = (".txt", ".pb", ".pb.gz")
"""XLA dumps modules as text or protobuf beside other reports: their beginning tells."""
_BEGINNING: Final = b"HloModule"
_MAX_BEGINNING: Final = 4096
"""Bytes that tell a module of a protobuf: the name of the module is shorter."""
_COMPRESSED: Final = b"\x1f\x8b"
_MAX_UNPACKED: Final = 1 << 26
"""Bytes of a file that was compressed; a small one may swell to fill the memory."""
_MAX_RATIO: Final = 40
"""Bytes for each byte of a larger file: dumps of XLA have 8 to 20."""
_AS_TEXT: Final = "; XLA dumps modules as text with --xla_dump_hlo_as_text"


def files_in(folder: str | os.PathLike[str]) -> list[str]:
    """The files of HLO modules in a folder and the folders in it, by name.

    These are ``*.hlo`` and ``*.mlir`` (StableHLO), both also with ``.gz`` behind, and of XLA's
    dumps each ``*.txt`` that begins as a module and each ``*.pb`` that holds one, unless the same
    module is dumped as text beside it.

    Raises:
        HloFileError: a folder cannot be listed.

    >>> files_in("examples")[-2:]
    ['examples/softmax.hlo', 'examples/transformer_block_fwd.hlo']
    """
    check_type(folder, (str, os.PathLike), "hlo.files_in: the folder", "a path")
    return [os.fspath(path) for path in sorted(_walk(folder)) if _is_module(path)]


def _walk(folder: str | os.PathLike[str]) -> Iterator[Path]:
    def refuse(error: OSError) -> NoReturn:
        raise HloFileError(error.filename, error.strerror or str(error))

    for inside, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(inside, name) for name in names)


def _is_module(path: Path) -> bool:
    if not path.name.endswith(_MAYBE_MODULES):
        return path.name.endswith(_MODULES)
    try:
        with path.open("rb") as file:
            begin = file.read(_MAX_BEGINNING)
        if begin.startswith(_COMPRESSED):
            with gzip.open(path) as compressed:
                begin = compressed.read(_MAX_BEGINNING)
    except (OSError, EOFError, zlib.error):
        return True  # reading it tells what is wrong
    return begin.startswith(_BEGINNING) or (module_in(begin) is not None and not _has_text(path))


def _has_text(path: Path) -> bool:
    """Whether the module in a protobuf was dumped as text, too."""
    stem = path.name.removesuffix(".gz").removesuffix(".pb").removesuffix(".hlo")
    return path.with_name(f"{stem}.txt").exists()


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, which may be compressed by gzip, or a module in a protobuf.

    Raises:
        HloFileError: there is no such file, or it is not text.
    """
    name = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise HloFileError(name, error.strerror or str(error)) from None
    return decoded(content, name)


def decoded(content: bytes, name: str) -> str:
    """The text of bytes in UTF-8, with or without a byte order mark, maybe compressed by gzip.

    Of a protobuf that holds a module it is the module's text, printed by jaxlib.

    Raises:
        HloFileError: with ``name``, if the bytes are no text, or jaxlib is needed and missing.

    >>> decoded(b"(d0) -> (d0)", "maps.txt")
    '(d0) -> (d0)'
    """
    if content.startswith(_COMPRESSED):
        content = _decompressed(content, name)
    if module := module_in(content):
        return text_of_module(module, name)
    if b"\0" in content:
        raise HloFileError(name, "the file is binary, not text" + _AS_TEXT)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is binary, or not in UTF-8: see byte {error.start}" + _AS_TEXT
        raise HloFileError(name, message) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file, in UTF-8.

    Raises:
        HloFileError: the file cannot be written.
    """
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise HloFileError(os.fspath(path), error.strerror or str(error)) from None


def _decompressed(content: bytes, name: str) -> bytes:
    most = max(_MAX_UNPACKED, _MAX_RATIO * len(content))
    try:
        with gzip.open(io.BytesIO(content)) as compressed:
            unpacked = compressed.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise HloFileError(name, str(error)) from None
    if len(unpacked) > most:
        raise HloFileError(name, f"the file unpacks to more than {most >> 20} megabytes")
    return unpacked


# Modules in protocol buffers: XLA's `HloModuleProto`, alone or in an `HloProto` or a snapshot.
#
# jaxlib reads the module and prints its text. It knows neither `HloProto` nor snapshots, so what
# is around the module is taken off here.

_FIRST_FIELD: Final = re.compile(rb"\x0a([\x80-\xff]{0,4}[\x00-\x7f])")
"""The tag of field 1, then the length of its content in digits of seven bits, the lowest first."""
_ENTRY_NAME: Final = b"\x12"
"""The tag of field 2: of a module, the name of its entry."""
_MAX_AROUND: Final = 2
"""Messages around a module: a snapshot holds an ``HloProto``, and that the module."""


def module_in(content: bytes) -> bytes | None:
    r"""The ``HloModuleProto`` in a message: itself, or its first field; else ``None``.

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
    """Begin and end of the content of field 1, if a message begins with it."""
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

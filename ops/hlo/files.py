"""Files as text, and the modules in a folder."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from ops.hlo.errors import AttributeValueError, HloFileError
from simplifier.errors import check_type
from simplifier.tools.late import Late

if TYPE_CHECKING:
    from ops.hlo import protobuf
else:
    protobuf = Late("ops.hlo.protobuf")

_MODULES: Final = (".hlo", ".mlir")
_MAYBE_MODULES: Final = (".txt", ".pb", ".pbtxt", ".textproto", ".prototxt", "-cache")
"""XLA dumps modules as text or protobuf beside other reports: their beginning tells."""
_BEGINNING: Final = b"HloModule"
_LENGTH: Final = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
"""Of the content of a field, in digits of seven bits, the lowest first."""
_PROTOBUF: Final = re.compile(
    rb"(?s:.{0,9}?)(?:\n(%b))?(\n%b[A-Za-z_][\w.-]*+\x12)" % (_LENGTH, _LENGTH)
)
"""How a module in a protobuf begins: with the names of the module and its entry, fields 1 and 2. Of
what is around it, the message inside is field 1; the length of all may stand before it."""
PROTOBUF_TEXT: Final = r"""(?>(?:\s|#.*)*)(?:hlo(?:_module)?\s*:?\s*[{<]\s*){0,2}name\s*:\s*["']"""
"""How a module in a protobuf as text begins, which may be in other messages."""
_PROTOBUF_TEXT: Final = re.compile(PROTOBUF_TEXT.encode())
_MAX_BEGINNING: Final = 4096
"""Bytes that tell a module: names are shorter."""
_GZIP: Final = b"\x1f\x8b"
_ZLIB: Final = (b"x\x01", b"x^", b"x\x9c", b"x\xda")
"""JAX's compilation cache compresses what it compiled, with the module somewhere inside."""
_MAX_UNPACKED: Final = 1 << 26
"""Bytes of a file that was compressed; a small one may swell to fill the memory."""
_MAX_RATIO: Final = 40
"""Bytes for each byte of a larger file: dumps of XLA have 8 to 20."""
_AS_TEXT: Final = "; XLA dumps modules as text with --xla_dump_hlo_as_text"


def files_in(folder: str | os.PathLike[str]) -> list[str]:
    """The files of HLO modules in a folder and the folders in it, by name.

    These are ``*.hlo`` and ``*.mlir`` (StableHLO), and of XLA's dumps each ``*.txt`` that begins as
    a module and each protobuf (``*.pb``, or as text ``*.txt``, ``*.pbtxt``, ``*.textproto``) that
    holds one, unless the same module is dumped as HLO text beside it; all also with ``.gz`` behind.
    Of JAX's compilation cache each ``*-cache`` that holds a module is one.

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
    name = path.name.removesuffix(".gz")
    if not name.endswith(_MAYBE_MODULES):
        return name.endswith(_MODULES)
    try:
        with path.open("rb") as file:
            begin = file.read(_MAX_BEGINNING)
        find = _PROTOBUF.search if begin.startswith(_ZLIB) else _PROTOBUF.match
        if begin.startswith((_GZIP, *_ZLIB)):
            begin = zlib.decompressobj(47).decompress(begin, _MAX_BEGINNING)  # of both kinds
    except (OSError, zlib.error):
        return True  # reading it tells what is wrong
    is_protobuf = bool(find(begin) or _PROTOBUF_TEXT.match(begin))
    return begin.startswith(_BEGINNING) or (is_protobuf and not _has_text(path))


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

    Of a binary protobuf that holds a module it is the module's HLO text.

    Raises:
        HloFileError: with ``name``, if the bytes are neither text nor a module.

    >>> decoded(b"(d0) -> (d0)", "maps.txt")
    '(d0) -> (d0)'
    """
    find = _PROTOBUF.search if content.startswith(_ZLIB) else _PROTOBUF.match
    if content.startswith((_GZIP, *_ZLIB)):
        content = _decompressed(content, name)
    if found := find(content):
        length = sum((digit & 0x7F) << 7 * place for place, digit in enumerate(found[1] or b""))
        module = content[found.start(2) :][: length or None]
        try:
            return protobuf.text_of(module, name)
        except AttributeValueError as error:
            raise HloFileError(name, f"the protobuf is no HLO module: {error}") from None
    if b"\0" in content:
        raise HloFileError(name, "the file is binary, and no protobuf of a module" + _AS_TEXT)
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
        if content.startswith(_ZLIB):
            unpacked = zlib.decompressobj().decompress(content, most + 1)
        else:
            with gzip.open(io.BytesIO(content)) as compressed:
                unpacked = compressed.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise HloFileError(name, str(error)) from None
    if len(unpacked) > most:
        raise HloFileError(name, f"the file unpacks to more than {most >> 20} megabytes")
    return unpacked

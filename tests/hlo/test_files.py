"""Files of modules: what is found in folders, and texts that are compressed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ops import hlo
from tests.hlo.modules import ALL, FOLDER, module_text

MODULE = b"HloModule m ENTRY e { ROOT p = f32[2] parameter(0) }"

FILES = {
    "b.hlo": MODULE,
    "a.hlo.gz": gzip.compress(MODULE),
    "dump/module_0001.jit_f.cpu_after_optimizations.txt": MODULE,
    "dump/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt": b"BufferAssignment:\n",
    "dump/broken.hlo": b"",
    "dump/deep/module.hlo": MODULE,
    "notes.md": MODULE,
    "hlo": MODULE,
    "other.gz": gzip.compress(MODULE),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with modules and other files."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path


def test_modules_in_a_folder(folder: Path) -> None:
    found = [path.removeprefix(f"{folder}/") for path in hlo.files_in(folder)]
    assert found == [
        "a.hlo.gz",
        "b.hlo",
        "dump/broken.hlo",
        "dump/deep/module.hlo",
        "dump/module_0001.jit_f.cpu_after_optimizations.txt",
    ]


def test_links_that_lead_in_circles_are_not_followed(folder: Path) -> None:
    (folder / "dump/circle").symlink_to(folder)
    assert len(hlo.files_in(folder)) == 5


def test_a_folder_without_modules_and_one_that_is_not_there(tmp_path: Path) -> None:
    assert hlo.files_in(tmp_path) == []
    with pytest.raises(hlo.HloFileError, match="missing: No such file or directory"):
        hlo.files_in(tmp_path / "missing")


def test_the_real_modules_are_found() -> None:
    found = (path.removeprefix(f"{FOLDER}/") for path in hlo.files_in(FOLDER))
    assert sorted(name.removesuffix(".hlo.gz") for name in found) == ALL


def test_compressed_text_is_read() -> None:
    assert hlo.load(FOLDER / "cpu/softmax.hlo.gz").source == module_text("cpu/softmax")


MODULE_AND_BLANKS = gzip.compress(MODULE) + gzip.compress(b" " * (1 << 22)) * 20
BAD = {
    "cut": (gzip.compress(MODULE)[:20], "Compressed file ended"),
    "no stream": (b"\x1f\x8b\0\0\0\0\0\0\0\0\0\0", "compression method"),
    "broken": (gzip.compress(MODULE)[:10] + b"\xff" * 20, "invalid"),
    "swelling-archive": (MODULE_AND_BLANKS, "the file unpacks to more than 64 megabytes"),
    "binary inside": (gzip.compress(b"\0\1"), "the file is binary, not text"),
}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=list(BAD))
def test_what_is_no_compressed_text(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "module.hlo.gz"
    file.write_bytes(content)
    with pytest.raises(hlo.HloFileError, match=f"module.hlo.gz: .*{words}"):
        hlo.load(file)

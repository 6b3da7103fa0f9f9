"""What is read beside texts: files in folders and dumps, protobufs, and programs of JAX."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ops import hlo, summary
from ops.cli import main
from ops.hlo.files import decoded
from simplifier.errors import ArgumentError
from tests.cases import for_all
from tests.hlo.modules import ALL, FOLDER, module_text
from tests.hlo.test_protobuf import field, varint
from tests.of_jax import OfJax, jax

TINY_TEXT = b"HloModule m ENTRY e { ROOT p = f32[2] parameter(0) }"

OPTIMIZED = "dump/module_0001.jit_f.cpu_after_optimizations.txt"
FILES = {
    "b.hlo": TINY_TEXT,
    "a.hlo.gz": gzip.compress(TINY_TEXT),
    OPTIMIZED: TINY_TEXT,
    "dump/module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt": b"BufferAssignment:\n",
    "dump/broken.hlo": b"",
    "dump/deep/module.hlo": TINY_TEXT,
    "notes.md": TINY_TEXT,
    "hlo": TINY_TEXT,
    "other.gz": gzip.compress(TINY_TEXT),
}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_modules_in_a_folder_and_folders_that_are_empty_or_not_there(tmp_path: Path) -> None:
    folder = write(tmp_path, FILES)
    (folder / "dump/circle").symlink_to(folder)  # links that lead in circles are not followed
    found = " ".join(hlo.files_in(folder)).replace(f"{folder}/", "").split()
    assert found == ["a.hlo.gz", "b.hlo", "dump/broken.hlo", "dump/deep/module.hlo", OPTIMIZED]
    (folder / "empty").mkdir()
    assert hlo.files_in(folder / "empty") == []
    with pytest.raises(hlo.HloFileError, match="missing: No such file or directory"):
        hlo.files_in(tmp_path / "missing")


def test_the_real_modules_are_found_and_read_though_compressed() -> None:
    found = (path.removeprefix(f"{FOLDER}/") for path in hlo.files_in(FOLDER))
    assert sorted(name.removesuffix(".hlo.gz") for name in found) == ALL
    assert hlo.load(FOLDER / "cpu/softmax.hlo.gz").source == module_text("cpu/softmax")


MODULE_AND_BLANKS = gzip.compress(TINY_TEXT) + gzip.compress(b" " * (1 << 22)) * 20
BAD = {
    "cut": (gzip.compress(TINY_TEXT)[:20], "Compressed file ended"),
    "no stream": (b"\x1f\x8b\0\0\0\0\0\0\0\0\0\0", "compression method"),
    "broken": (gzip.compress(TINY_TEXT)[:10] + b"\xff" * 20, "invalid"),
    "swelling-archive": (MODULE_AND_BLANKS, "the file unpacks to more than 64 megabytes"),
    "swelling cache": (zlib.compress(TINY_TEXT + bytes(80 << 20)), "more than 64 megabytes"),
    "binary inside": (gzip.compress(b"\0\1"), "the file is binary, and no protobuf of"),
}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=list(BAD))
def test_what_is_no_compressed_text(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "module.hlo.gz"
    file.write_bytes(content)
    with pytest.raises(hlo.HloFileError, match=f"module.hlo.gz: .*{words}"):
        hlo.load(file)


MODULE = """HloModule jit_f

ENTRY main {
  p = f32[4,8] parameter(0)
  c = f32[4,8] constant({{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,9}})
  s = f32[4,8] add(p, c)
  ROOT r = f32[32] reshape(s)
}
"""
TINY = b"\x0a\x05jit_f\x12\x04main"
"""The first two fields of a module: its name, and that of its entry."""


def held(content: bytes, number: int = 1) -> bytes:
    """A message whose only field holds some bytes."""
    return field(number, 2, varint(len(content)) + content)


LONG_NAME = held(b"a" * 300) + TINY[7:]
HOLDING = {
    "a module": TINY,
    "an HloProto": held(TINY) + held(b"buffers", 3),
    "a snapshot": held(held(TINY)) + held(b"literal", 2),
    "with its length before it": b"\x0f" + held(TINY) + b"arguments",
    "a long name": held(LONG_NAME),
    "an executable": zlib.compress(b"\0\0\0\7\x12\3cpu" + held(held(TINY), 7) + held(b"x", 9)),
}
"""Messages and a file with a module inside."""
HOLDING_NONE = {
    "too deep": held(held(held(held(held(held(TINY)))))),
    "no entry": held(b"cpu") + held(b"1", 3),
    "a name in no letters": held(b"\xff\xfe") + TINY[7:],
    "text after lines": b"\n\nENTRY e { }",
    "an executable of something else": zlib.compress(b"\0\0\0\7\x12\3cpu"),
    "nothing": b"",
}


@for_all(HOLDING)
def test_the_module_in_a_message_is_read(content: bytes) -> None:
    assert decoded(content, "m.pb").startswith(("HloModule jit_f\n", "HloModule aaa"))


@for_all(HOLDING_NONE)
def test_there_is_no_module_in_a_message(content: bytes) -> None:
    with suppress(hlo.HloFileError):
        assert "HloModule" not in decoded(content, "m.pb")


def test_the_compilation_cache_of_jax_holds_modules(tmp_path: Path) -> None:
    for name, content in (HOLDING | HOLDING_NONE).items():
        (tmp_path / f"{name}-cache").write_bytes(content)
    found = [Path(path).name.removesuffix("-cache") for path in hlo.files_in(tmp_path)]
    assert found == sorted(HOLDING)


@pytest.mark.needs("jaxlib")
def test_commands_read_protobufs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    native: Any = import_module("jaxlib._hlo")
    protobuf: bytes = native.hlo_module_from_text(MODULE).as_serialized_hlo_module_proto()
    file = tmp_path / "m.hlo.pb"
    for content in (protobuf, gzip.compress(held(protobuf) + held(b"more", 2))):
        file.write_bytes(content)
        assert main(["maps", str(tmp_path), "--instruction", "r"]) == 0
        assert "(d0) -> (d0 floordiv 8, d0 mod 8)" in capsys.readouterr().out
    module = hlo.load(file)
    assert (module.name, module.file) == ("jit_f", str(file))
    assert module["c"].literal == hlo.parse(MODULE)["c"].literal


SAVED_TENSORS = f"""[ScheduleSyncTensorsGraph]
TensorsGraphInfo:
  train (train.py:7)

Root Hashes: (3b7e)

## BEGIN_GRAPH
{MODULE}
## END_GRAPH

[ScheduleSyncTensorsGraph]
TensorsGraphInfo:

## BEGIN_GRAPH
## END_GRAPH
"""


def test_what_pytorch_saves_is_its_first_graph(tmp_path: Path) -> None:
    (tmp_path / "tensors.hlo.0").write_text(SAVED_TENSORS)
    assert str(hlo.load(tmp_path / "tensors.hlo.0")) == str(hlo.parse(MODULE))
    with pytest.raises(hlo.HloTextError, match=r"^f:13:16: %s: there is no opcode adds"):
        hlo.parse(SAVED_TENSORS.replace("add(", "adds(p, d), x="), "f")


DUMP = {
    "module_0000.jit_f.before_optimizations.txt": MODULE.encode(),
    "module_0000.jit_f.before_optimizations.hlo.pb": TINY,
    "module_0000.jit_f.0001.fusion.after_dce.before_cse.txt": MODULE.encode(),
    "module_0000.jit_f.0002.fusion.after_cse.before_layout.hlo.pb.gz": gzip.compress(TINY),
    "module_0000.jit_f.sm_9.0_gpu_after_optimizations.txt": MODULE.encode(),
    "module_0000.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt": b"BufferAssignment:",
    "module_0000.jit_f.sm_9.0_gpu_after_optimizations-memory-usage-report.pb": b"\x08\x01",
    "module_0000.jit_f.snapshot.-12.pb": held(held(TINY)),
    "module_0000.jit_f.execution_0000.hlo_unoptimized_snapshot.txt": b'hlo_module {\n  name: "a"',
    "module_0000.metadata.textproto": b"canonical_module_id: 3",
    "module_0003.jit_g.before_optimizations.hlo.pbtxt": b'name: "jit_g"',
    "module_0000.jit_f.ir-no-opt.ll": b"; ModuleID",
    "module_0000.jit_f/compile_options.pb": b"\x1a\x01",
    "1700000000.module_0012.a.b.cpu_after_optimizations.hlo.pb": held(TINY),
    "module_0012.before_optimizations.txt": MODULE.encode(),
    "other.hlo": MODULE.encode(),
}


def test_modules_of_a_dump_are_told_apart(tmp_path: Path) -> None:
    found = hlo.dumped_modules(write(tmp_path, DUMP))
    assert [(each.number, each.name, each.stage) for each in found] == [
        (0, "jit_f", "before_optimizations"),
        (0, "jit_f", "0001.fusion.after_dce.before_cse"),
        (0, "jit_f", "0002.fusion.after_cse.before_layout"),
        (0, "jit_f", "sm_9.0_gpu_after_optimizations"),
        (0, "jit_f", "execution_0000.hlo_unoptimized_snapshot"),
        (0, "jit_f", "snapshot.-12"),
        (3, "jit_g", "before_optimizations"),
        (12, "", "before_optimizations"),
        (12, "a.b", "cpu_after_optimizations"),
    ]
    assert found[0].load().name == "jit_f"


def lowered() -> OfJax:
    return jax.jit(jax.nn.softmax).lower(np.ones((4, 8), np.float32))


@pytest.mark.needs("jax")
def test_lowered_is_the_program_as_it_was_written_and_compiled_is_what_runs() -> None:
    written, running = lowered(), lowered().compile()
    module, optimized = hlo.parse(written), hlo.parse(running)
    assert str(module) == str(hlo.parse(written.as_text("hlo")))
    assert str(optimized) == str(hlo.parse(running.as_text()))
    assert len(module.entry.find(opcode="reduce")) == 2
    assert not module.find(opcode="fusion")
    assert optimized.find(opcode="fusion")
    assert len(summary(optimized)) < len(summary(module))


@pytest.mark.needs("jax")
def test_the_text_of_lowered_programs_is_read_and_their_objects_of_mlir_are_refused() -> None:
    assert hlo.parse(lowered().as_text()).entry.root.shape == hlo.parse(lowered()).entry.root.shape
    with pytest.raises(ArgumentError, match="what JAX lowered or compiled"):
        hlo.parse(lowered().compiler_ir("stablehlo"))


SILENT = SimpleNamespace(as_text=lambda: None)
"""A program of which there is no text, as of some compiled ones."""


@for_all([None, 3, b"HloModule m", SILENT, SimpleNamespace])
def test_what_prints_no_text(program: Any) -> None:  # noqa: ANN401 - whatever people pass
    with pytest.raises(ArgumentError, match=r"hlo\.parse: .*expected a string, or what JAX"):
        hlo.parse(program)

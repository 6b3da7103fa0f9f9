"""What the commands print: text for people, one JSON document for programs."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from indexing import parse_map
from ops import limits
from ops.cli import main
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES, SOFTMAX_SUM

TOTAL = """\
%total fusion, operand 0 %logits:
  (d0)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  s0 in [0, 7]
"""

BACK_TO_TOTAL = """\
%total fusion, operand 0 %logits:
  (d0, d1) -> (d0),
  domain:
  d0 in [0, 3],
  d1 in [0, 7]
"""

ROOT = """\
%both tuple, result 0, operand 0 %wide:
  (d0, d1) -> (d0, d1),
  domain:
  d0 in [0, 3],
  d1 in [0, 7]
%both tuple, result 1, operand 1 %total:
  (d0) -> (d0),
  domain:
  d0 in [0, 3]
"""

ALL_SHARES = """\
ENTRY %main, parameter 0 %x:
  (d0, d1) -> (d0, d1),
  domain:
  d0 in [0, 3],
  d1 in [0, 7]
  (d0, d1)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  d1 in [0, 7],
  s0 in [0, 7]
"""
MINIMAL_SHARES = """\
ENTRY %main, parameter 0 %x:
  (d0, d1)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  d1 in [0, 7],
  s0 in [0, 7]
"""
FUSIONS = """\
ENTRY %main, result 0, parameter 0 %logits:
  (d0, d1)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  d1 in [0, 7],
  s0 in [0, 7]
ENTRY %main, result 1, parameter 0 %logits:
  (d0)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  s0 in [0, 7]
%fused_sum of %total, parameter 0 %p:
  (d0)[s0] -> (d0, s0),
  domain:
  d0 in [0, 3],
  s0 in [0, 7]
"""

PART = """\
%part dynamic-slice, operand 0 %found:
  (d0){rt0} -> (d0 + rt0),
  domain:
  d0 in [0, 3],
  rt0 in [0, 12]
  rt0: %start = s32[] call(%one); (d0) -> ()
%part dynamic-slice, operand 1 %start:
  (d0) -> (),
  domain:
  d0 in [0, 3]
"""

NOTHING = "nothing is read among what is selected\n"
LOOKUP = "%found custom-call, operand 0 %keys: unknown (custom-call: no indexing map of lookup)\n"
ON_THE_WAY = """\
ENTRY %main, parameter 0 %keys: unknown (custom-call: no indexing map of lookup)
ENTRY %main, parameter 1 %one:
  (d0) -> (),
  domain:
  d0 in [0, 3]
"""

SHORT_FUSIONS = """\
ENTRY %main, result 0 of %both = f32[4,8] tuple
  %logits f32[4,8]: (d0, d1)[s0] -> (d0, s0)
ENTRY %main, result 1 of %both = f32[4] tuple
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)
"""

SHORT_PART = """\
%part = f32[4] dynamic-slice
  %found f32[16]: (d0){rt0} -> (d0 + rt0), rt0 in [0, 12]
    rt0: %start = s32[] call(%one); (d0) -> ()
  %start s32[]: (d0) -> ()
"""

SHORT_WINDOW = """\
ENTRY %e, %window = f32[6] reduce-window, model.py:7
  %x f32[8]: (d0)[s0] -> (d0 + s0), s0 in [0, 2]
  %zero f32[]: (d0) -> ()
"""

SHORT_TEXTS = [
    (
        "one instruction",
        SOFTMAX_SUM,
        ["maps", "--instruction", "total"],
        "%total = f32[4] fusion kLoop\n  %logits f32[4,8]: (d0)[s0] -> (d0, s0)\n",
    ),
    (
        "the other direction",
        SOFTMAX_SUM,
        ["maps", "--instruction", "total", "--direction", "input-to-output"],
        "%total = f32[4] fusion kLoop\n  %logits f32[4,8]: (d0, d1) -> (d0)\n",
    ),
    (
        "several results",
        SOFTMAX_SUM,
        ["maps", "--instruction", "both"],
        """\
%both = (f32[4,8], f32[4]) tuple
  result 0, %wide f32[4,8]: (d0, d1) -> (d0, d1)
  result 1, %total f32[4]: (d0) -> (d0)
""",
    ),
    ("what depends on nothing", SOFTMAX_SUM, ["maps", "--instruction", "logits"], NOTHING),
    (
        "no map",
        LOOKED_UP,
        ["maps", "--instruction", "found"],
        """\
%found = f32[16] custom-call
  %keys f32[16]: unknown (custom-call: no indexing map of lookup)
""",
    ),
    ("a runtime variable", LOOKED_UP, ["maps", "--instruction", "part"], SHORT_PART),
    ("entry and fusions", SOFTMAX_SUM, ["fusions"], SHORT_FUSIONS),
    (
        "a range that is no whole dimension, and a source line",
        """sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[8] parameter(0) zero = f32[] parameter(1)
  ROOT window = f32[6] reduce-window(x, zero), window={size=3}, to_apply=sum,
    metadata={source_file="model.py" source_line=7} }""",
        ["fusions"],
        SHORT_WINDOW,
    ),
    (
        "offsets in memory, which are no dimensions of the shape",
        SOFTMAX_SUM,
        ["maps", "--instruction", "wide", "--linear-offsets"],
        """\
%wide = f32[4,8] broadcast
  %total f32[4]: (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]
""",
    ),
]

LONG_TEXTS = [
    ("one instruction", SOFTMAX_SUM, ["maps", "--instruction", "total"], TOTAL),
    ("a name as HLO writes it", SOFTMAX_SUM, ["maps", "--instruction", "%total"], TOTAL),
    (
        "the other direction",
        SOFTMAX_SUM,
        ["maps", "--instruction", "total", "--direction", "input-to-output"],
        BACK_TO_TOTAL,
    ),
    ("several results", SOFTMAX_SUM, ["maps", "--instruction", "both"], ROOT),
    (
        "no operands",
        SOFTMAX_SUM,
        ["maps", "--instruction", "logits"],
        "%logits parameter: depends on nothing\n",
    ),
    ("no map", LOOKED_UP, ["maps", "--instruction", "found"], LOOKUP),
    ("a runtime variable", LOOKED_UP, ["maps", "--instruction", "part"], PART),
    ("entry and fusions", SOFTMAX_SUM, ["fusions"], FUSIONS),
    ("all maps of a fusion", ROW_SHARES, ["fusions"], ALL_SHARES),
    ("maps that no other map contains", ROW_SHARES, ["fusions", "--minimal"], MINIMAL_SHARES),
    ("no map on the way", LOOKED_UP, ["fusions"], ON_THE_WAY),
]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The path of a module to write."""
    return tmp_path / "module.hlo"


def called(arguments: list[str], file: Path) -> int:
    """The exit code of a command on a file."""
    command, *options = arguments
    return main([command, str(file), *options])


TEXTS = {
    **{name: row for name, *row in SHORT_TEXTS},
    **{
        f"long: {name}": [module, [*arguments, "--long"], expected]
        for name, module, arguments, expected in LONG_TEXTS
    },
}


@pytest.mark.parametrize(("module", "arguments", "expected"), TEXTS.values(), ids=TEXTS)
def test_text(
    module: str,
    arguments: list[str],
    expected: str,
    saved: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved.write_text(module)
    assert called(arguments, saved) == 0
    assert capsys.readouterr() == (expected, "")


def test_every_instruction_is_answered(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(LOOKED_UP)
    assert called(["maps", "--long", "--all"], saved) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("%")]
    assert [title.split()[0] for title in titles] == (
        ["%a", "%sum", "%sum", "%keys", "%found", "%one", "%start", "%part", "%part"]
    )


def json_of(arguments: list[str], file: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The document that a command prints."""
    assert called([*arguments, "--json"], file) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document: dict[str, Any] = json.loads(out)
    return document


def test_json_says_what_was_asked(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(SOFTMAX_SUM)
    document = json_of(["maps", "--physical-layout"], saved, capsys)
    del document["instructions"]
    assert document == {
        "schema_version": 1,
        "command": "maps",
        "file": str(saved),
        "module": "softmax_sum",
        "direction": "output-to-input",
        "physical_layout": True,
        "linear_offsets": False,
        "errors": [],
    }


def test_json_of_an_instruction(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(SOFTMAX_SUM)
    document = json_of(["maps", "--instruction", "total"], saved, capsys)
    text = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"
    reached = {
        "text": text,
        "results": ["d0", "s0"],
        "dims": [{"name": "d0", "bounds": [0, 3]}],
        "ranges": [{"name": "s0", "bounds": [0, 7]}],
        "runtime": [],
        "parameters": [],
        "constraints": [],
        "known_empty": False,
        "runtime_origins": [],
        "replica_id": None,
        "approximation": None,
    }
    assert document["instructions"] == [
        {
            "computation": "main",
            "instruction": "total",
            "opcode": "fusion",
            "shape": "f32[4]{0}",
            "indexing": [{"result": 0, "operand": 0, "name": "logits", "maps": [reached]}],
        }
    ]


def test_json_of_what_is_unknown(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(LOOKED_UP)
    (row,) = json_of(["fusions"], saved, capsys)["results"]
    assert row["indexing"][0] == {
        "result": 0,
        "parameter": 0,
        "name": "keys",
        "unknown": "custom-call: no indexing map of lookup",
    }


def test_json_of_a_runtime_variable(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(LOOKED_UP)
    (row,) = json_of(["maps", "--instruction", "part"], saved, capsys)["instructions"]
    (way,) = row["indexing"][0]["maps"]
    (origin,) = way["runtime_origins"]
    place = origin.pop("map")
    assert origin == {
        "variable": "rt0",
        "instruction": "start",
        "callers": [],
        "text": "%start = s32[] call(%one); (d0) -> ()",
        "clamp": [0, 12],
        "replica_id": None,
    }
    assert place["text"] == "(d0) -> (), domain: d0 in [0, 3]"


def test_an_approximation_is_shown_with_its_reason(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_MAPS", 1)
    saved.write_text(
        "ENTRY e { x = f32[4] parameter(0) y = f32[4] reverse(x), dimensions={0} "
        "ROOT r = f32[4] add(x, y) }"
    )
    (row,) = json_of(["fusions"], saved, capsys)["results"]
    ((way,),) = [entry["maps"] for entry in row["indexing"]]
    assert way["approximation"] == "more than 1 different maps"
    assert main(["fusions", str(saved)]) == 0
    assert "\n    approximation: more than 1 different maps\n" in capsys.readouterr().out


MAPS = """\
(d0, d1) -> ((d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8), domain: d0 in [0, 3], d1 in [0, 7]
---

(d0) -> (d0),
domain:
d0 in [0, 9],
d0 mod 4 in [1, 1]
---
"""

SIMPLIFIED = """\
(d0, d1) -> (d0, d1),
domain:
d0 in [0, 3],
d1 in [0, 7]
---
(d0) -> (d0),
domain:
d0 in [1, 9],
d0 mod 4 in [1, 1]
"""


def test_simplify_reads_a_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(MAPS)
    assert called(["simplify"], saved) == 0
    assert capsys.readouterr() == (SIMPLIFIED, "")


def test_simplify_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MAPS.encode())))
    assert main(["simplify"]) == 0
    assert capsys.readouterr() == (SIMPLIFIED, "")


def test_simplify_reads_what_it_wrote(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(SIMPLIFIED)
    assert called(["simplify"], saved) == 0
    assert capsys.readouterr() == (SIMPLIFIED, "")


def test_json_of_a_map_is_the_map(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(MAPS)
    document = json_of(["simplify"], saved, capsys)
    maps = [parse_map(text) for text in MAPS.split("---") if not text.isspace()]
    assert [row["text"] for row in document["maps"]] == [str(map_.simplify()) for map_ in maps]
    assert document["maps"][1]["constraints"] == [{"expression": "d0 mod 4", "bounds": [1, 1]}]

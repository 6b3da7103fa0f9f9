"""What the commands print: text for people, one JSON document for programs."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from indexing import parse_map
from ops import limits
from tests.cli.command_line import CommandLine, sessions
from tests.cli.small_modules import LOOKED_UP, SOFTMAX_SUM

SESSIONS = """
# one instruction
$ maps softmax_sum.hlo --instruction total
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)

# the other direction
$ maps softmax_sum.hlo --instruction total --direction input-to-output
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0, d1) -> (d0)

# several results
$ maps softmax_sum.hlo --instruction both
%both = (f32[4,8], f32[4]) tuple
  result 0, %wide f32[4,8]: (d0, d1) -> (d0, d1)
  result 1, %total f32[4]: (d0) -> (d0)

# what depends on nothing
$ maps softmax_sum.hlo --instruction logits
nothing is read among what is selected

# no map
$ maps looked_up.hlo --instruction found
%found = f32[16] custom-call
  %keys f32[16]: unknown (custom-call: no indexing map of lookup)

# a runtime variable
$ maps looked_up.hlo --instruction part
%part = f32[4] dynamic-slice
  %found f32[16]: (d0){rt0} -> (d0 + rt0), rt0 in [0, 12]
    rt0: %start = s32[] call(%one); (d0) -> ()
  %start s32[]: (d0) -> ()

# entry and fusions
$ fusions softmax_sum.hlo
ENTRY %main, result 0 of %both = f32[4,8] tuple
  %logits f32[4,8]: (d0, d1)[s0] -> (d0, s0)
ENTRY %main, result 1 of %both = f32[4] tuple
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)
%total = f32[4] fusion kLoop
  %logits f32[4,8]: (d0)[s0] -> (d0, s0)

# a range that is no whole dimension, and a source line
$ fusions window.hlo
ENTRY %e, %window = f32[6] reduce-window, model.py:7
  %x f32[8]: (d0)[s0] -> (d0 + s0), s0 in [0, 2]
  %zero f32[]: (d0) -> ()

# offsets in memory, which are no dimensions of the shape
$ maps softmax_sum.hlo --instruction wide --linear-offsets
%wide = f32[4,8] broadcast
  %total f32[4]: (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]
"""

IN_FULL = """
# one instruction
$ maps softmax_sum.hlo --instruction total
%total fusion, operand 0 %logits:
  (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]

# no operands
$ maps softmax_sum.hlo --instruction logits
%logits parameter: depends on nothing

# no map
$ maps looked_up.hlo --instruction found
%found custom-call, operand 0 %keys: unknown (custom-call: no indexing map of lookup)

# a runtime variable
$ maps looked_up.hlo --instruction part
%part dynamic-slice, operand 0 %found:
  (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 12]
  rt0: %start = s32[] call(%one); (d0) -> ()
%part dynamic-slice, operand 1 %start:
  (d0) -> (), domain: d0 in [0, 3]

# entry and fusions
$ fusions softmax_sum.hlo
ENTRY %main, result 0, parameter 0 %logits:
  (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7]
ENTRY %main, result 1, parameter 0 %logits:
  (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]
%fused_sum of %total, parameter 0 %p:
  (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]

# all maps of a fusion
$ fusions row_shares.hlo
ENTRY %main, parameter 0 %x:
  (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
  (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7]

# maps that no other map contains
$ fusions row_shares.hlo --minimal
ENTRY %main, parameter 0 %x:
  (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7]

# no map on the way
$ fusions looked_up.hlo
ENTRY %main, parameter 0 %keys: unknown (custom-call: no indexing map of lookup)
ENTRY %main, parameter 1 %one:
  (d0) -> (), domain: d0 in [0, 3]
"""


@pytest.mark.parametrize(("call", "answer"), sessions(SESSIONS))
def test_answers(call: str, answer: str, cli: CommandLine) -> None:
    assert cli(*cli.words(call)) == answer


@pytest.mark.parametrize(("call", "answer"), sessions(IN_FULL))
def test_long_answers(call: str, answer: str, cli: CommandLine) -> None:
    """Each limit of a domain has a line of its own."""
    lines = re.sub(r"(?<=,) (?=domain:|\w+ in \[)|(?<=domain:) ", "\n  ", answer)
    assert cli(*cli.words(call), "--long") == lines


def test_every_instruction_is_answered(cli: CommandLine) -> None:
    lines = cli(*cli.words("maps looked_up.hlo --long --all")).splitlines()
    titles = [line.split()[0] for line in lines if line.startswith("%")]
    expected = "%a %sum %sum %keys %found %one %start %part %part"
    assert " ".join(titles) == expected


DOCUMENT = """{
  "schema_version": 1, "command": "maps", "module": "softmax_sum", "direction": "output-to-input",
  "physical_layout": true, "linear_offsets": false, "errors": []
}"""
INSTRUCTION = """{
  "computation": "main", "instruction": "total", "opcode": "fusion", "shape": "f32[4]{0}",
  "indexing": [{"result": 0, "operand": 0, "name": "logits", "maps": [{
    "text": "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]",
    "results": ["d0", "s0"],
    "dims": [{"name": "d0", "bounds": [0, 3]}],
    "ranges": [{"name": "s0", "bounds": [0, 7]}],
    "runtime": [], "parameters": [], "constraints": [], "known_empty": false,
    "runtime_origins": [], "replica_id": null, "approximation": null
  }]}]
}"""
UNKNOWN = """{
  "result": 0, "parameter": 0, "name": "keys", "unknown": "custom-call: no indexing map of lookup"
}"""
ORIGIN = """{
  "variable": "rt0", "instruction": "start", "callers": [],
  "text": "%start = s32[] call(%one); (d0) -> ()", "clamp": [0, 12], "replica_id": null
}"""


def test_json_says_what_was_asked_and_answers_it(cli: CommandLine) -> None:
    call = ("maps", cli.file(SOFTMAX_SUM), "--instruction", "total", "--physical-layout")
    document = cli.document(*call)
    assert document.pop("instructions") == [json.loads(INSTRUCTION)]
    assert document == json.loads(DOCUMENT) | {"file": str(call[1])}


def test_json_of_what_is_unknown_and_of_a_runtime_variable(cli: CommandLine) -> None:
    (row,) = cli.document("fusions", cli.file(LOOKED_UP))["results"]
    assert row["indexing"][0] == json.loads(UNKNOWN)
    document = cli.document("maps", cli.file(LOOKED_UP), "--instruction", "part")
    (row,) = document["instructions"]
    (way,) = row["indexing"][0]["maps"]
    (origin,) = way["runtime_origins"]
    assert origin.pop("map")["text"] == "(d0) -> (), domain: d0 in [0, 3]"
    assert origin == json.loads(ORIGIN)


def test_an_approximation_has_a_reason(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_MAPS", 1)
    saved = cli.file("""ENTRY e { x = f32[4] parameter(0)
      y = f32[4] reverse(x), dimensions={0} ROOT r = f32[4] add(x, y) }""")
    (row,) = cli.document("fusions", saved)["results"]
    ((way,),) = [entry["maps"] for entry in row["indexing"]]
    assert way["approximation"] == "more than 1 different maps"
    assert "\n    approximation: more than 1 different maps\n" in cli("fusions", saved)


JOINED = "(d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8"
MAPS = f"""\
(d0, d1) -> ({JOINED}), domain: d0 in [0, 3], d1 in [0, 7]
---

(d0) -> (d0),\ndomain:\nd0 in [0, 9],\nd0 mod 4 in [1, 1]
---
"""
SIMPLIFIED = """\
(d0, d1) -> (d0, d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]
---
(d0) -> (d0),\ndomain:\nd0 in [1, 9],\nd0 mod 4 in [1, 1]
"""


def test_simplify_reads_files_and_stdin(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    assert cli("simplify", cli.file(MAPS)) == SIMPLIFIED
    assert cli("simplify", cli.file(SIMPLIFIED)) == SIMPLIFIED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MAPS.encode())))
    assert cli("simplify") == SIMPLIFIED
    # JSON of a map is the map
    document = cli.document("simplify", cli.file(MAPS))
    maps = [parse_map(text) for text in MAPS.split("---") if not text.isspace()]
    assert [row["text"] for row in document["maps"]] == [str(map_.simplify()) for map_ in maps]
    assert document["maps"][1]["constraints"] == [{"expression": "d0 mod 4", "bounds": [1, 1]}]

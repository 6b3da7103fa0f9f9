"""What the commands print as JSON is what the schema says, all of it, and nothing else."""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from indexing import parse_map
from ops import Unknown, hlo, output_to_input
from ops.cli import main
from ops.cli.documents import SCHEMA_VERSION
from tests.cli.schema_of import OBJECTS, PAGE, SCHEMA, Json, description_of, with_tables
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES, SOFTMAX_SUM, TURNED, dumped
from tests.extent import part
from tests.hlo.modules import module_text

WHOLE: Final[Any] = Draft202012Validator(SCHEMA)
PARTS: Final[dict[str, Any]] = {
    name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    for name in (choice["$ref"].removeprefix("#/$defs/") for choice in SCHEMA["oneOf"])
}
"""What checks the documents of each command; the whole schema has worse words for what is wrong."""

WITHOUT_FILES = [
    ["layout", "f32[3,5]"],
    ["example", "softmax"],
    ["simplify", "-e", "d0 mod 8"],
    ["diff", "examples/softmax.hlo", "examples/layernorm.hlo"],
    ["explore", "examples/softmax.hlo", "-o", os.devnull],
    ["advise", "examples/mean_square.hlo"],
]
"""A call of each command that does not read files alone."""

MANY = (
    *("maps", "fusions", "why", "reads", "schedule", "summary", "coalescing", "utilization"),
    *("tiles", "loops"),
)
"""The commands that read several files."""

ANSWERS = {
    "maps": ["maps"],
    "maps back": ["maps", "--direction", "input-to-output"],
    "maps in memory": ["maps", "--physical-layout", "--linear-offsets"],
    "fusions": ["fusions"],
    "minimal fusions": ["fusions", "--minimal"],
    "coalescing": ["coalescing"],
    "coalescing in vectors": ["coalescing", "--device", "H100", "--unroll", "4"],
    "summary": ["summary"],
    "summary with advice": ["summary", "--advise"],
    "utilization": ["utilization"],
    "tiles": ["tiles"],
    "why": ["why"],
    "why of a way": ["why", "--opcode", "dot", "--parameter", "*0*"],
    "reads": ["reads"],
    "reads of tiles": ["reads", "--tile", "2x2", "--at", "0,1"],
    "schedule": ["schedule"],
    "loops": ["loops"],
}
MODULES = [
    "cpu/softmax",
    "cpu/embedding_grad",
    "cpu/collectives_shard_map",
    "gpu/dot_product_attention_bf16",
    "gpu/ring_pipeline_loop",
    "tpu/kv_cache_decode",
    "tpu/roll",
    "unoptimized/callbacks_tokens",
    "unoptimized/control_flow",
]
MAPS = "(d0) -> (d0 mod 8), domain: d0 in [0, 7]\n---\n(d0) -> (d1)\n"
WRONG = """HloModule wrong
f { a = f32[2,3] parameter(0)
  ROOT t = f32[3,4] transpose(a), dimensions={1,0} }
ENTRY e { p = f32[2,3] parameter(0)
  ROOT r = f32[3,4] fusion(p), kind=kLoop, calls=f }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The path of a text to write."""
    return tmp_path / "text"


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Json:
    """The document that a command prints."""
    main([*arguments, "--json"])
    document: Json = json.loads(capsys.readouterr().out)
    return document


def violations(document: Json) -> list[str]:
    """What is wrong with a document."""
    part = document["command"] + "_of_many" * ("modules" in document)
    part += "_of_passes" * ("passes" in document)
    errors = PARTS[part].iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in errors]


def objects_in(document: Json) -> list[Json]:
    """All objects in a document, inner ones before those that hold them."""
    found: list[Json] = []

    def kept(each: Json) -> Json:
        found.append(each)
        return each

    json.loads(json.dumps(document), object_hook=kept)
    return found


def with_surprise(document: Json, position: int) -> Json:
    """The document with one more field in one of its objects."""
    numbers = count()

    def changed(found: Json) -> Json:
        return found | {"surprise": 1} if next(numbers) == position else found

    surprising: Json = json.loads(json.dumps(document), object_hook=changed)
    return surprising


def test_schema_follows_its_own_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_has_the_version_of_the_documents() -> None:
    assert SCHEMA["$defs"]["schema_version"]["const"] == SCHEMA_VERSION
    assert SCHEMA["$id"].endswith(f":{SCHEMA_VERSION}")


@pytest.mark.parametrize("name", OBJECTS)
def test_fields_are_described(name: str) -> None:
    fields = OBJECTS[name]["properties"]
    assert [field for field, schema in fields.items() if not description_of(schema)] == []


def test_page_has_the_fields_of_the_schema() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "run python -m tests.cli.schema_of"


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


@pytest.mark.parametrize("name", part(MODULES, 3))
@pytest.mark.parametrize("arguments", ANSWERS.values(), ids=ANSWERS)
def test_documents_of_modules(
    arguments: list[str], name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(module_text(name))
    document = printed([arguments[0], str(file), *arguments[1:]], capsys)
    assert violations(document) == []
    for found in objects_in(document):
        if "known_empty" in found:
            check_parts(found)


def check_parts(fields: Json) -> None:
    """The text of a map parses back to it, and its parts are the other fields."""
    parsed = parse_map(fields["text"])
    assert str(parsed) == fields["text"]
    for kind in ("dims", "ranges", "runtime"):
        declared = [
            [variable.bounds.lower, variable.bounds.upper] for variable in getattr(parsed, kind)
        ]
        assert declared == [variable["bounds"] for variable in fields[kind]]
    assert len(parsed.results) == len(fields["results"])
    assert len(parsed.constraints) == len(fields["constraints"])


def test_maps_parse_back_to_equal_maps(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(module_text("tpu/kv_cache_decode"))
    rows = printed(["maps", str(file)], capsys)["instructions"]
    compared = 0
    for row, instruction in zip(rows, hlo.load(file).instructions, strict=True):
        for entry in row["indexing"]:
            if not instruction.shape.is_tuple and "maps" in entry and "element" not in entry:
                operand: int = entry["operand"]
                answer = output_to_input(instruction).indexing[operand]
                assert not isinstance(answer, Unknown)
                ways = dict.fromkeys(way.map.simplify() for way in answer)
                assert [parse_map(way["text"]) for way in entry["maps"]] == list(ways)
                compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    ("command", "text"),
    [
        *(("maps", WRONG), ("fusions", WRONG), ("fusions", LOOKED_UP), ("simplify", MAPS)),
        *(("maps", TURNED), ("fusions", TURNED)),
    ],
    ids=[
        *("maps with an error", "fusions with an error", "fusions unknown", "simplify"),
        *("maps with parameters", "fusions with parameters"),
    ],
)
def test_other_documents(
    command: str, text: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    assert violations(printed([command, str(file)], capsys)) == []


@pytest.mark.parametrize("command", ["maps", "fusions"])
def test_documents_of_many_files(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.hlo").write_text(LOOKED_UP)
    (tmp_path / "b.hlo").write_text(WRONG)
    (tmp_path / "c.hlo").write_text("nothing")
    found = printed([command, str(tmp_path), str(tmp_path / "missing")], capsys)
    assert violations(found) == []
    assert WHOLE.is_valid(found)
    assert [len(module["errors"]) for module in found["modules"]] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "command",
    [
        *("maps", "fusions", "why", "reads", "schedule", "summary", "coalescing", "utilization"),
        *("tiles", "simplify", "layout", "advise"),
    ],
)
def test_documents_where_nothing_is_right(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed([command, "missing"], capsys)
    assert violations(found) == []
    assert len(found["errors"]) == 1


@pytest.mark.parametrize(
    "shape", ["f32[3,5]{1,0:T(2,2)}", "f32[]", "bf16[8,128]{1,0:T(8,128)(2,1)}"]
)
def test_documents_of_layouts(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert violations(printed(["layout", shape], capsys)) == []


def test_parameters_have_origins(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(TURNED)
    document = printed(["fusions", str(file)], capsys)
    (result,) = document["results"]
    text = "value of %count = s32[] parameter(1)"
    assert result["parameter_origins"] == [
        {
            "parameter": "count",
            "instruction": "count",
            "computation": "main",
            "dimension": None,
            "element": 0,
            "text": text,
        }
    ]
    main(["fusions", str(file)])
    assert capsys.readouterr().out.endswith(f"\n  count: {text}\n")
    main(["fusions", str(file), "--long"])
    assert capsys.readouterr().out.endswith(f"ENTRY %main, parameters:\n  count: {text}\n")
    for position in range(len(objects_in(document))):
        assert not WHOLE.is_valid(with_surprise(document, position))


def test_nothing_is_said_that_is_not_in_the_schema(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One more field anywhere is refused."""
    file.write_text(LOOKED_UP)
    calls = [[command, *[str(file)] * count] for command in MANY for count in (1, 2)]
    documents = [printed(arguments, capsys) for arguments in calls]
    dump = dumped(file.parent / "dump")
    calls = [*WITHOUT_FILES, ["diff", str(dump)]]
    documents.extend(printed(arguments, capsys) for arguments in calls)
    file.write_text(MAPS)
    documents.append(printed(["simplify", str(file)], capsys))
    for document in documents:
        assert WHOLE.is_valid(document)
        for position in part(range(len(objects_in(document))), 20):
            assert not WHOLE.is_valid(with_surprise(document, position))


GATHERED = """HloModule gathered, replica_count=2
ENTRY e { x = f32[4] parameter(0)
  ROOT g = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0} }"""
"""A tile of ``x`` is on another replica."""


def test_all_that_is_in_the_schema_is_said(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [
        (["maps"], LOOKED_UP),
        (["maps"], SOFTMAX_SUM),
        (["maps"], module_text("cpu/control_flow")),
        (["maps"], module_text("cpu/ring_pipeline_loop")),
        (["fusions"], LOOKED_UP),
        (["fusions"], TURNED),
        (["fusions"], WRONG),
        (["coalescing"], module_text("gpu/dot_product_attention_bf16")),
        (["summary"], LOOKED_UP),
        (["utilization"], LOOKED_UP),
        (["tiles"], SOFTMAX_SUM),
        (["tiles"], LOOKED_UP),
        (["tiles"], GATHERED),
        (["why"], LOOKED_UP),
        (["why"], module_text("cpu/control_flow")),
        (["reads", "--at", ""], SOFTMAX_SUM),
        (["reads", "--at", "0"], LOOKED_UP),
        (["reads", "--at", "0,0"], ROW_SHARES),
        (["reads"], module_text("cpu/control_flow")),
        (["schedule"], module_text("gpu/dot_product_attention_bf16")),
        (["schedule"], module_text("gpu/sort_topk")),
        (["loops"], module_text("unoptimized/control_flow")),
        (["loops"], module_text("cpu/ring_pipeline_loop")),
        (["simplify"], MAPS),
    ]
    seen: set[str] = set()
    for arguments, text in calls:
        file.write_text(text)
        document = printed([*arguments, str(file)], capsys)
        seen.update(name for found in objects_in(document) for name in found)
    many = [[command, str(file), str(file)] for command in MANY]
    dump = dumped(file.parent / "dump")
    for last in (*WITHOUT_FILES, *many, ["diff", str(dump)]):
        document = printed(last, capsys)
        seen.update(name for found in objects_in(document) for name in found)
    declared = {name for definition in OBJECTS.values() for name in definition["properties"]}
    assert sorted(declared - seen) == []

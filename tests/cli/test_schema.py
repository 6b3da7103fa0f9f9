"""What the commands print as JSON is what the schema says, all of it, and nothing else."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from indexing import parse_map
from ops import Unknown, hlo, output_to_input
from ops.cli.documents import SCHEMA_VERSION
from tests.cli.command_line import OF_MODULES, CommandLine, Json
from tests.cli.schema_of import OBJECTS, PAGE, SCHEMA, description_of, with_lists
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES, SOFTMAX_SUM, TURNED, WRONG_INSIDE, dumped
from tests.extent import part
from tests.hlo.modules import module_text

WHOLE: Final[Any] = Draft202012Validator(SCHEMA)
PARTS: Final[dict[str, Any]] = {
    name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    for name in (choice["$ref"].removeprefix("#/$defs/") for choice in SCHEMA["oneOf"])
}
"""What checks the documents of each command; the whole schema has worse words for what is wrong."""

WITHOUT_FILES = [
    "layout f32[3,5]",
    "example softmax",
    "simplify -e d0%8",
    "diff examples/softmax.hlo examples/layernorm.hlo",
    f"explore examples/softmax.hlo -o {os.devnull}",
    "advise examples/mean_square.hlo",
]
"""A call of each command that does not read files alone."""

ANSWERS = (
    *("maps", "maps --direction input-to-output", "maps --physical-layout --linear-offsets"),
    *("fusions", "fusions --minimal", "coalescing", "coalescing --device H100 --unroll 4"),
    *("summary", "summary --advise", "utilization", "tiles", "schedule", "loops"),
    *("why", "why --opcode dot --parameter *0*", "reads", "reads --tile 2x2 --at 0,1"),
)
MODULES = (
    *("cpu/softmax", "cpu/embedding_grad", "cpu/collectives_shard_map"),
    *("gpu/dot_product_attention_bf16", "gpu/ring_pipeline_loop", "tpu/kv_cache_decode"),
    *("tpu/roll", "unoptimized/callbacks_tokens", "unoptimized/control_flow"),
)
MAPS = "(d0) -> (d0 mod 8), domain: d0 in [0, 7]\n---\n(d0) -> (d1)\n"


def schema_for(document: Json) -> Any:  # noqa: ANN401 - a validator
    part = document["command"] + "_of_many" * ("modules" in document)
    return PARTS[part + "_of_passes" * ("passes" in document)]


def violations(document: Json) -> list[str]:
    errors = schema_for(document).iter_errors(document)
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
    found = objects_in(document)
    found[position]["surprise"] = 1
    return found[-1]


def test_schema_follows_its_own_schema_and_the_page_has_its_fields(cli: CommandLine) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["schema_version"]["const"] == SCHEMA_VERSION
    assert SCHEMA["$id"].endswith(f":{SCHEMA_VERSION}")
    assert json.loads(cli("schema")) == SCHEMA
    for name, definition in OBJECTS.items():
        fields = definition["properties"].items()
        assert [field for field, schema in fields if not description_of(schema)] == [], name
    page = PAGE.read_text("utf-8")
    assert page == with_lists(page), "run python -m tests.cli.schema_of"


@pytest.mark.parametrize("name", part(MODULES, 3))
@pytest.mark.parametrize("call", ANSWERS)
def test_documents_of_modules(call: str, name: str, cli: CommandLine) -> None:
    document = cli.document(*call.split(), cli.file(module_text(name)), code=None)
    assert violations(document) == []
    for found in objects_in(document):
        if "known_empty" in found:
            check_parts(found)


def check_parts(fields: Json) -> None:
    """The text of a map parses back to it, and its parts are the other fields."""
    parsed = parse_map(fields["text"])
    assert str(parsed) == fields["text"]
    for kind in ("dims", "ranges", "runtime"):
        bounds = [[each.bounds.lower, each.bounds.upper] for each in getattr(parsed, kind)]
        assert bounds == [variable["bounds"] for variable in fields[kind]]
    for kind in ("results", "constraints"):
        assert len(getattr(parsed, kind)) == len(fields[kind])


def test_maps_parse_back_to_equal_maps(cli: CommandLine) -> None:
    file = cli.file(module_text("tpu/kv_cache_decode"))
    rows = cli.document("maps", file)["instructions"]
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


@pytest.mark.parametrize("command", ["maps", "fusions"])
def test_documents_of_many_files(command: str, cli: CommandLine) -> None:
    for name, text in (("a", LOOKED_UP), ("b", WRONG_INSIDE), ("c", "nothing")):
        cli.file(text, f"{name}.hlo")
    found = cli.document(command, cli.folder, cli.folder / "missing", code=1)
    assert violations(found) == []
    assert WHOLE.is_valid(found)
    assert [len(module["errors"]) for module in found["modules"]] == [0, 0, 1, 1]


def test_documents_of_layouts_and_where_nothing_is_right(cli: CommandLine) -> None:
    for command in (*OF_MODULES, "simplify", "layout", "advise"):
        found = cli.document(command, "missing", code=1)
        assert violations(found) == []
        assert len(found["errors"]) == 1, command
    for shape in ("f32[3,5]{1,0:T(2,2)}", "f32[]", "bf16[8,128]{1,0:T(8,128)(2,1)}"):
        assert violations(cli.document("layout", shape)) == []


COUNT = """{
  "parameter": "count", "instruction": "count", "computation": "main", "dimension": null,
  "element": 0, "text": "value of %count = s32[] parameter(1)"
}"""


def test_parameters_have_origins(cli: CommandLine) -> None:
    file, origin = cli.file(TURNED), json.loads(COUNT)
    document = cli.document("fusions", file)
    (result,) = document["results"]
    assert result["parameter_origins"] == [origin]
    line = f"\n  count: {origin['text']}\n"
    assert cli("fusions", file).endswith(line)
    assert cli("fusions", file, "--long").endswith(f"ENTRY %main, parameters:{line}")
    for position in range(len(objects_in(document))):
        assert not WHOLE.is_valid(with_surprise(document, position))


def test_nothing_is_said_that_is_not_in_the_schema(cli: CommandLine) -> None:
    """One more field anywhere is refused."""
    file, dump = cli.file(LOOKED_UP), dumped(cli.folder / "dump")
    calls = [
        *([command, *[file] * count] for command in OF_MODULES for count in (1, 2)),
        *(*map(str.split, WITHOUT_FILES), ["diff", dump]),
        ["simplify", cli.file(MAPS, "maps.txt")],
    ]
    for arguments in calls:
        document = cli.document(*arguments, code=None)
        assert WHOLE.is_valid(document)
        for position in part(range(len(objects_in(document))), 20):
            assert not schema_for(document).is_valid(with_surprise(document, position))


GATHERED = """HloModule gathered, replica_count=2
ENTRY e { x = f32[4] parameter(0)
  ROOT g = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0} }"""
"""A tile of ``x`` is on another replica."""

REAL = {
    "cpu/control_flow": ["maps", "why", "reads"],
    "cpu/ring_pipeline_loop": ["maps", "loops"],
    "gpu/dot_product_attention_bf16": ["coalescing", "schedule"],
    "gpu/sort_topk": ["schedule"],
    "unoptimized/control_flow": ["loops"],
}
SMALL = {
    LOOKED_UP: ["maps", "fusions", "summary", "utilization", "tiles", "why", "reads --at 0"],
    SOFTMAX_SUM: ["maps", "tiles", "reads --at="],
    ROW_SHARES: ["reads --at 0,0"],
    TURNED: ["maps", "fusions"],
    WRONG_INSIDE: ["maps", "fusions"],
    GATHERED: ["tiles"],
    MAPS: ["simplify"],
}
"""Which commands of which modules say all that there is to say."""


def test_all_that_is_in_the_schema_is_said(cli: CommandLine) -> None:
    texts = SMALL | {module_text(name): calls for name, calls in REAL.items()}
    calls = [
        [*call.split(), cli.file(text, f"{number}.hlo")]
        for number, (text, several) in enumerate(texts.items())
        for call in several
    ]
    maps, dump = cli.folder / f"{len(SMALL) - 1}.hlo", dumped(cli.folder / "dump")
    calls += [*map(str.split, WITHOUT_FILES), ["diff", dump]]
    calls += [[command, maps, maps] for command in OF_MODULES]
    documents = [cli.document(*call, code=None) for call in calls]
    assert [violations(document) for document in documents] == [[]] * len(documents)
    seen = {name for each in documents for found in objects_in(each) for name in found}
    declared = {name for definition in OBJECTS.values() for name in definition["properties"]}
    assert sorted(declared - seen) == []

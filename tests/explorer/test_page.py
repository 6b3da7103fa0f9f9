"""The page without a browser: what it is made of, and that its code agrees with Python."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from math import prod
from pathlib import Path
from typing import Any, Final

import pytest

import indexing
from indexing import IndexingMap, MapError, Variable, parse_map
from ops import Fusion, explore, explorer, hlo
from ops.explorer import MODULES, Explored, code_of_map, function_list, page_file
from ops.hlo import HloFileError
from simplifier.errors import ArgumentError
from tests.cases import for_all, for_table
from tests.hlo.modules import module_text
from tests.project.sources import ROOT

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")

SMALL: Final = """HloModule small
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
fused { x = f32[4,6] parameter(0) z = f32[] constant(0)
  r = f32[4] reduce(x, z), dimensions={1}, to_apply=add
  ROOT n = f32[4] negate(r) }
ENTRY e { p = f32[4,6] parameter(0) ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused }
"""


def data_of(thing: Explored) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(explore(thing).data)
    return found


def in_node(folder: Path, names: str, module: str, body: str) -> Any:  # noqa: ANN401 - JSON
    """What a function returns that has these names from a module of the page."""
    for name in MODULES:
        (folder / name).write_text(page_file(name))
    (folder / "package.json").write_text('{"type": "module"}')
    imports = f'import {{ {names} }} from "./{module}";'
    program = f"{imports} console.log(JSON.stringify((() => {{ {body} }})()));"
    (folder / "program.js").write_text(program)
    command = ["node", str(folder / "program.js")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(printed)


MAPS: Final = (
    "(d0, d1) -> (d0 floordiv 3, d1 mod 4), domain: d0 in [0, 7], d1 in [0, 9]",
    "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 * 2 + s0 in [1, 16]",
    "(d0) -> (-d0 floordiv 3, (-d0) mod 5), domain: d0 in [2, 9]",
    "()[s0, s1] -> (s0, s1), domain: s0 in [0, 3], s1 in [0, 3], (s0 + s1) mod 2 in [1, 1]",
    "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [-2, 5]",
    "(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 4]",
    "(d0)[s0]{rt0} -> (s0 floordiv rt0), domain: d0 in [0, 1], s0 in [0, 5], rt0 in [1, 3]",
    "() -> (), domain:",
    "()[s0] -> (), domain: s0 in [0, 4]",
    "(d0) -> (d0 * 100000000000 + 7), domain: d0 in [0, 3]",
    "(d0) -> ((d0 * 1000000007) floordiv 13, (d0 * 1000000007) mod 8), domain: d0 in [999, 1003]",
    "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 in [0, 2]",
)


def reads_by_python(indexing_map: IndexingMap) -> dict[tuple[int, ...], Counter[str]]:
    """How often each point reads each element, with the runtime values that read it most."""
    counts = Counter((p[0], p[2], ",".join(map(str, p[3]))) for p in indexing_map.points())
    found: dict[tuple[int, ...], Counter[str]] = {}
    for (dims, _, result), count in counts.items():
        found[dims] = found.get(dims, Counter()) | Counter({result: count})
    return found


def reads_by_page(
    folder: Path, maps: list[IndexingMap]
) -> list[dict[tuple[int, ...], Counter[str]]]:
    """The same, by the code of the page; also asked of points beside those of the domain."""
    functions, about = _as_code(maps)
    body = f"""{functions}
const readsAt = (each, point) =>
  [...readsOf([each], FUNCTIONS, point).reads].map(([key, {{ count }}]) => [key, count]);
const around = (each) => pointsOf(each.dims.map(([low, high]) => [low - 1, high + 1]));
return {about}.map((each) => [...around(each)].map((point) => [point, readsAt(each, point)]));"""
    answers = in_node(folder, "pointsOf, readsOf", "evaluation.js", body)
    return [{(*point,): Counter(dict(reads)) for point, reads in rows if reads} for rows in answers]


def _as_code(maps: list[IndexingMap]) -> tuple[str, str]:
    """The list of functions for some maps, and what the page knows about each, as JavaScript."""
    about = [
        {"code": number, "dims": _bounds(each.dims), "runtime": _bounds(each.runtime)}
        for number, each in enumerate(maps)
    ]
    return function_list([code_of_map(each) for each in maps]), json.dumps(about)


def _bounds(variables: Iterable[Variable]) -> list[list[int | None]]:
    return [[each.bounds.lower, each.bounds.upper] for each in variables]


@needs_node
def test_code_reads_what_maps_say(tmp_path: Path) -> None:
    maps = [parse_map(text) for text in MAPS]
    assert reads_by_page(tmp_path, maps) == [reads_by_python(each) for each in maps]


@needs_node
def test_code_of_real_maps_reads_what_they_say(tmp_path: Path) -> None:
    """Of pads, reverses, windows, dynamic slices and a cache: maps of few points."""
    names = ("cpu/concat_pad_rev_slice", "gpu/dynamic_slice_zoo")
    texts = {
        each["map"]: None
        for name in names
        for each in data_of(hlo.parse(module_text(name)))["indexings"]
        if "code" in each and "..." not in each["map"]
    }
    maps = [*map(parse_map, texts)]
    maps = [each for each in maps if prod(one.bounds.size or 0 for one in each.domain) < 300]
    assert len(maps) > 20
    assert reads_by_page(tmp_path, maps) == [reads_by_python(each) for each in maps]


@needs_node
def test_no_question_runs_for_long(tmp_path: Path) -> None:
    """Neither a thousand million reads, nor as many values of which none is read."""
    maps = [
        "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 1], s0 in [0, 99999], s1 in [0, 99999]",
        "(d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [0, 1000000000], rt0 + d0 in [-9, -3]",
    ]
    functions, about = _as_code([*map(parse_map, maps)])
    body = f"""{functions} const found = {about}.map((each) => readsOf([each], FUNCTIONS, [0]));
return found.map(({{ visits, isCut }}) => [visits, isCut]);"""
    assert in_node(tmp_path, "readsOf", "evaluation.js", body) == [[200_000, True], [0, True]]


def test_what_needs_more_than_53_bits_is_refused() -> None:
    wide = parse_map("(d0) -> (d0 * d0), domain: d0 in [0, 1000000000]")
    with pytest.raises(MapError, match=r"d0 \* d0 may need more than 53 bits and a sign"):
        code_of_map(wide)


BOXES: dict[str, list[list[int]]] = {
    "(3, 0…127)": [[3, n] for n in range(128)],
    "(4…5, 1…2)": [[y, x] for x in (1, 2) for y in (5, 4)],
    "(0) (2…3)": [[0], [2], [3]],
    "()": [[]],
    "": [],
    "(0) (2) (4) and 2 more": [[2 * n] for n in range(5)],
}
ADDRESSES: list[dict[str, Any]] = [
    {"view": "main", "instruction": "a.1", "output": 0, "element": [1, 2]},
    {"view": "f&c=2#", "instruction": "%\u00fc", "output": 3, "element": None},
    {"view": "f", "instruction": "x", "output": 0, "element": []},
]
THEMES = {(None, False): "light", (None, True): "dark", ("true", True): "light",
          ("false", False): "dark"}  # fmt: skip
OF_MODULES: list[tuple[str, str, str, list[Any], list[Any]]] = [
    # a module, names in it, what is asked of each of these, the answers
    ("evaluation.js", "inWords", "inWords(each, 3).join(' ')", [*BOXES.values()], [*BOXES]),
    ("address.js", "addressOf, readAddress", "readAddress(addressOf(each))", ADDRESSES, ADDRESSES),
    # Rows of 8 characters, and of 4 behind the first, end behind spaces; the line of each row.
    ("text_view.js", "rowsOf", "rowsOf(each, 8)",
     ["", "abcdefgh i", "abcdef ghijklm", "a bcdefghi"],
     [[""], ["abcdefgh ", "i"], ["abcdef ", "ghij", "klm"], ["a bcdefg", "hi"]]),
    ("text_view.js", "lineAt, topsOf",
     "(topsOf(['', 'abcd', 'abcdefghijklm'], 8)).concat(lineAt([0, 1, 2, 5], each))",
     [0, 1, 2, 4], [[0, 1, 2, 5, 0], [0, 1, 2, 5, 1], [0, 1, 2, 5, 2], [0, 1, 2, 5, 2]]),
    # JupyterLab's theme comes before the system's.
    ("theme.js", "themeOf", "themeOf(each[0] ?? undefined, each[1])",
     [*THEMES], [*THEMES.values()]),
]  # fmt: skip


@needs_node
def test_functions_of_the_page(tmp_path: Path) -> None:
    for module, names, asked, given, expected in OF_MODULES:
        body = f"return {json.dumps(given)}.map((each) => {asked});"
        assert in_node(tmp_path, names, module, body) == expected


@needs_node
def test_each_cell_is_where_its_element_is(tmp_path: Path) -> None:
    body = """
const shapes = [[], [1], [7], [64], [65], [1000], [3, 5], [97, 300], [2, 3, 4], [2, 2, 500, 3]];
return shapes.flatMap((sizes) => {
  const grid = gridOf(sizes);
  const slice = sizes.slice(0, -2).map((size) => size - 1);
  const cells = Array.from({ length: grid.rows * grid.columns }, (_, each) => {
    return [Math.floor(each / grid.columns), each % grid.columns];
  });
  const elements = cells.map((cell) => elementOf(grid, ...cell, slice));
  const isRight = (element, each) =>
    element === null || (cellOf(grid, element).join() === cells[each].join() &&
      element.length === sizes.length && element.every((value, axis) => value < sizes[axis]));
  const fits = grid.rows <= 64 && grid.columns <= 64 && elements[0] !== null;
  return fits && elements.every(isRight) ? [] : [sizes];
});"""
    assert in_node(tmp_path, "cellOf, elementOf, gridOf", "grid.js", body) == []


SOFTMAX: Final = """
ENTRY e { x = f32[4,8] parameter(0) low = f32[] constant(-9) zero = f32[] constant(0)
  two = f32[] constant(2) twos = f32[4,8] broadcast(two), dimensions={}
  half = f32[4,8] divide(x, twos) tanh = f32[4,8] tanh(half) wide = f32[4,8] multiply(tanh, twos)
  top = f32[4] reduce(wide, low), dimensions={1}, to_apply=more
  tops = f32[4,8] broadcast(top), dimensions={0} less = f32[4,8] subtract(wide, tops)
  up = f32[4,8] exponential(less) sum = f32[4] reduce(up, zero), dimensions={1}, to_apply=add
  sums = f32[4,8] broadcast(sum), dimensions={0} ROOT out = f32[4,8] divide(up, sums)"""
MORE: Final = """more { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"""


def groups_of(folder: Path, module: hlo.HloModule, body: str) -> Any:  # noqa: ANN401 - JSON
    """What is said of the tree of the first graph; ``name`` gives the names of nodes."""
    names = "askedOf, contentsOf, drawnOf, groupsAround, linesOf, treeOf"
    given = f"""const data = {json.dumps(data_of(module))};
const tree = treeOf(data, data.views[0]);
const one = (each) => data.instructions[each].name;
const name = (node) => (node.members ? node.members.map(one).join(" ") : one(node));
const number = (name) => data.instructions.findIndex((each) => each.name === name);"""
    return in_node(folder, names, "graph_groups.js", f"{given} {body}")


@needs_node
def test_a_region_is_connected_and_nothing_leaves_it_and_comes_back(tmp_path: Path) -> None:
    """Parameters beyond the limit make a graph a large one; what reductions divide is apart."""
    many = " ".join(f"p{n} = f32[] parameter({n})" for n in range(1, 40))
    module = hlo.parse(f"HloModule m {MORE} {SOFTMAX} {many} }}")
    body = """
return ["half", "less", "sums"].map((each) => groupsAround(tree, number(each)).at(-1))
  .map((each) => [name(each), contentsOf(data, each)]);"""
    first, second, third = groups_of(tmp_path, module, body)
    assert first == ["two twos half tanh wide", "3 elementwise, 1 constant, 1 broadcast"]
    assert second == ["tops less up", "2 elementwise, 1 broadcast"]
    assert "sums" in third[0].split()  # alone, and so in a part of the graph
    small = "return tree.children.every((each) => !each.members);"
    assert groups_of(tmp_path, hlo.parse(f"HloModule m {MORE} {SOFTMAX} }}"), small)


LARGE: Final = {
    "unoptimized/gqa_rope": 143,
    "gpu/elementwise_zoo": 151,
    "unoptimized/resnet_block_fwd": 164,
    "tpu/mlp_adam_step": 96,
}


@needs_node
def test_a_large_graph_fits_whatever_is_chosen(tmp_path: Path) -> None:
    """Each instruction is in one box, the chosen one and what it reads have boxes of their own."""
    body = """
const { members, outside } = data.views[0];
const isRight = (chosen) => {
  const open = new Set(groupsAround(tree, chosen));
  const asked = askedOf(data.instructions, chosen);
  const { boxes, boxOf } = drawnOf(tree, open, asked);
  const lines = linesOf(data.instructions, boxOf);
  const reads = data.instructions[chosen].operands.slice(0, 12);
  return boxes.length <= 70 && [chosen, ...reads].every((each) => boxOf.get(each) === each) &&
    lines.every(({ from, to }) => boxes.includes(from) && boxes.includes(to));
};
const folded = drawnOf(tree, new Set(), new Set());
const held = folded.boxes.flatMap((each) => each.members ?? [each]);
const count = linesOf(data.instructions, folded.boxOf).reduce((all, { count }) => all + count, 0);
return [members.length, held.length, folded.boxes.length <= 40, count > 0,
  members.filter((each) => !isRight(each)).map(one)];"""
    for name, size in LARGE.items():
        found = groups_of(tmp_path, hlo.parse(module_text(name)), body)
        assert found == [size, size, True, True, []], name


def test_modules_import_only_those_before_them_and_their_names_are_different() -> None:
    for number, name in enumerate(MODULES):
        imported = re.findall(r'^import .* from "\./(.*)";$', page_file(name), re.MULTILINE)
        assert set(imported) <= set(MODULES[:number])
        assert len(imported) == page_file(name).count("import ")
    # A page is all modules as one.
    top = re.compile(r"^(?:export )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE)
    names = Counter(name for module in MODULES for name in top.findall(page_file(module)))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_documentation_tells_the_limits_of_the_code() -> None:
    code = [*map(page_file, MODULES), inspect.getsource(explorer)]
    limits = re.findall(r"MAX_\w+(?:: Final)? = ([\d_]+)", "\n".join(code))
    page = (ROOT / "docs" / "explorer.md").read_text("utf-8")
    told = re.findall(r"^\| ([\d,]+) (?!bits)", page, re.MULTILINE)
    assert told
    assert {int(each.replace(",", "")) for each in told} <= {*map(int, limits)}


def by_name(data: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in data["instructions"]}


def test_a_module_is_all_its_computations() -> None:
    data = data_of(hlo.parse(SMALL))
    views = [(each["name"], each["kind"]) for each in data["views"]]
    assert views == [("e", "entry"), ("fused", "fusion"), ("add", "reduce")]
    root = by_name(data)["n"]
    assert data["lines"][root["line"]] == "  ROOT n = f32[4] negate(r) }"
    (result,) = root["results"]
    (far,) = result["parameters"]
    assert data["instructions"][far["of"]]["name"] == "x"
    (indexing,) = (data["indexings"][each] for each in far["indexings"])
    assert (indexing["formula"], indexing["where"]) == ("(d0, s0)", ["s0 in [0, 5]"])


def test_a_fusion_is_its_instructions_and_what_they_call_and_an_instruction_is_one() -> None:
    module = hlo.parse(SMALL)
    data = data_of(Fusion.of_instructions(module.computation("fused").instructions[2:]))
    first, second = data["views"]
    names = [each["name"] for each in data["instructions"]]
    assert [names[each] for each in first["members"]] == ["r", "n"]
    assert [names[each] for each in first["outside"]] == ["x", "z"]
    assert second["name"] == "add"
    for name, view in {"f": "fused", "r": "r"}.items():
        assert data_of(module[name])["views"][0]["name"] == view


def test_the_explorer_of_indexing_shows_what_that_of_ops_shows() -> None:
    module = hlo.parse(SMALL)
    for thing in (module, module.entry, module["f"], Fusion.of(module["f"])):
        assert indexing.explore(thing).data == explore(thing).data


@for_all([explore, indexing.explore])
def test_other_things_are_refused(shows: Callable[[Any], object]) -> None:
    with pytest.raises(ArgumentError, match="expected a computation, a fusion or an"):
        shows("examples/softmax.hlo")


def test_a_module_without_text_is_printed() -> None:
    data = data_of(replace(hlo.parse(SMALL), source=""))
    for name, each in by_name(data).items():
        assert f"%{name} = " in data["lines"][each["line"]]


@for_table("""
p = f32[4] parameter(0) ROOT c = f32[4] custom-call(p), custom_call_target="x" => x
p = f32[2,3] parameter(0) ROOT t = f32[3,4] transpose(p), dimensions={1,0} => 1:37: %t: transpose:
""")
def test_what_is_unknown_or_does_not_fit_has_its_reason(body: str, reason: str) -> None:
    root = data_of(hlo.parse(f"ENTRY e {{ {body} }}"))["instructions"][1]
    assert reason in root["results"][0]["operands"][0]["unknown"]


def test_a_note_is_about_its_instruction_alone() -> None:
    module = hlo.load(ROOT / "examples" / "mean_square.hlo")
    data = json.loads(explore(module, notes={module.entry["wide"]: "a < b"}).data)
    noted = {each["name"]: each["note"] for each in data["instructions"] if each["note"]}
    assert noted == {"wide": "a < b"}


class Attributes(HTMLParser):
    """The attributes of all elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found.append(dict(attrs))


def inside(page: str, opening: str) -> str:
    """What the only element that is opened so holds."""
    ((_, text),) = re.findall(rf"<(?={opening})(\w+)[^>]*>(.*?)</\1>", page, re.DOTALL)
    return text


def test_only_its_own_script_and_style_may_act() -> None:
    page = explore(hlo.parse(SMALL)).html
    attributes = Attributes(page).found
    policy = next(each["content"] for each in attributes if "http-equiv" in each) or ""
    assert policy.startswith("default-src 'none'; ")
    for opening, kind in {"style": "style", 'script type="module"': "script"}.items():
        digest = b64encode(sha256(inside(page, opening).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [each for each in attributes if {"src", "href", "onload", "style"} & each.keys()]


def test_names_are_data() -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    metadata = f'metadata={{op_name="{evil}" source_file="{evil}"}}'
    page = explore(hlo.parse(f"ENTRY e {{ p = f32[4] parameter(0), {metadata} }}", evil)).html
    assert "<img" not in page
    assert json.loads(inside(page, 'script [^>]*id="data"'))["file"] == evil


def test_a_thousand_instructions_are_less_than_two_megabytes() -> None:
    line = 'x{1} = f32[64,64]{{1,0}} {2}(x{0}), metadata={{op_name="jit(step)/layer{1}/{2}" '
    line += 'source_file="model.py" source_line={1}}}\n'
    lines = (line.format(n, n + 1, ("negate", "exponential", "tanh")[n % 3]) for n in range(1_000))
    text = f"HloModule m ENTRY e {{ x0 = f32[64,64]{{1,0}} parameter(0)\n{''.join(lines)} }}"
    assert len(explore(hlo.parse(text)).html) < 700_000


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HloFileError, match="Is a directory"):
        explore(hlo.parse(SMALL)).write(tmp_path)


def test_the_library_in_the_page_is_the_one_that_is_named() -> None:
    licence = page_file("vendor/dagre.LICENSE.txt")
    assert "Permission is hereby granted" in licence
    (version,) = re.findall(r"@license @dagrejs/dagre@([\d.]+),", licence)
    assert f'"{version}"' in page_file("vendor/dagre.min.js")

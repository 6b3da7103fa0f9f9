"""Loops made from maps, run in each language: they visit the points of the domain in order."""

from __future__ import annotations

import ctypes
import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from indexing import IndexingMap, MapError, emit_loops, parse_map
from indexing.code.coder import names_in
from indexing.code.language import LANGUAGES
from tests.extent import seldom
from tests.indexing.code_maps import MAPS, needs, run_node, shared_library
from tests.indexing.stand_in import functions_of, tensors
from tests.indexing.tables import refusals, texts
from tests.strategies import maps

LOOPED = MAPS | texts("""
a window: (d0 < 8)[s0 < 3] -> (d0 * 2 + s0 - 1), domain: d0 * 2 + s0 in [1, 16]
a dilated window: (d0 < 10)[s0 < 5] -> ((d0 + s0 - 1) floordiv 2), domain: d0 + s0 in [1, 9], (d0 +
        s0) mod 2 in [1, 1]
backwards: (d0 < 10)[s0 < 10] -> (d0 - s0), domain: d0 * 3 - s0 * 2 in [-4, 7], (d0 - s0) mod 3 in
        [2, 2]
two residues: (d0 < 10)[s0 < 31] -> (s0), domain: (d0 + s0) mod 3 in [1, 1], s0 mod 4 in [2, 2]
no remainder: (d0 < 4)[s0 < 10] -> (s0), domain: (d0 + s0) mod 3 in [4, 4]
a triangle: (d0 < 5)[s0 < 5, s1 < 5] -> (s0 * 5 + s1), domain: s0 + s1 in [0, 4], d0 - s1 in [-3, 0]
no line: (d0 in [-2, 2])[s0 < 5, s1 < 5] -> (s0 * s1), domain: s0 * s0 in [1, 9], d0 * s1 in [-3,
        3], d0 * d0 in [1, 4]
digits: (d0 < 2)[s0 < 48] -> (s0 floordiv 12 + d0, s0 floordiv 4 mod 3, s0 mod 4)
nothing: ()[s0] -> (s0), domain: KNOWN EMPTY
a range that does not begin at 0: ()[s0 in [4, 11]] -> (s0 floordiv 4)
a runtime variable: (d0 < 4)[s0 < 4]{rt0 < 3} -> (d0 + s0 + rt0), domain: s0 + rt0 in [1, 3]
a parameter: (d0 < 3)[s0 < N]<N in [1, 4]> -> (d0 * N + s0)
""")
by_map = pytest.mark.parametrize("text", LOOPED.values(), ids=LOOPED)

Row = tuple[int, ...]


def values_of(indexing_map: IndexingMap) -> list[range]:
    """The values of each variable within its bounds; ends that are expressions are small."""
    ends = [(each.bounds.lower, each.bounds.upper) for each in indexing_map.domain]
    return [range(low or 0, (9 if high is None else high) + 1) for low, high in ends]


def expected(indexing_map: IndexingMap) -> dict[Row, list[list[int]]]:
    """For all values of what is no range: the ranges and results of each point in the domain."""
    domain = indexing_map.domain
    dims, ranges = len(domain.dims), len(domain.ranges)
    found: dict[Row, list[list[int]]] = {}
    for point in product(*values_of(indexing_map)):
        split = domain.by_role(point)
        rows = found.setdefault((*point[:dims], *point[dims + ranges :]), [])
        rest = point[dims + ranges + len(domain.runtime) :]
        parameters = dict(zip((each.name for each in domain.parameters), rest, strict=True))
        if indexing_map.contains(*split, parameters=parameters):
            results = indexing_map.evaluate(*split, parameters=parameters)
            rows.append([*split[1], *results])
    return found


def seen_in_body(indexing_map: IndexingMap, language: str) -> list[str]:
    """The names of what a point has: its ranges, then its results."""
    domain, count = indexing_map.domain, len(indexing_map.results)
    own = [*domain.by_role(names_in(domain, LANGUAGES[language].reserved))[1]]
    return own + (["r"] if count == 1 else [f"r{number}" for number in range(count)])


# C.


@needs("cc")
@by_map
def test_loops_in_c_visit_the_points_of_the_domain(text: str, tmp_path: Path) -> None:
    indexing_map = parse_map(text)
    right = expected(indexing_map)
    body = "".join(f"*(*seen)++ = {name};\n" for name in seen_in_body(indexing_map, "c"))
    source = emit_loops(indexing_map, "c", body + "++*count;", "r", parameters=SEEN)
    outer = len(indexing_map.domain.variables) - len(indexing_map.ranges)
    arguments = ", ".join([*(f"point[{place}]" for place in range(outer)), "&seen", "&count"])
    source += f"""int64_t run(const int64_t *point, int64_t *seen) {{
  int64_t count = 0;
  r_loops({arguments});
  return count;
}}
"""
    compiled = shared_library(source, tmp_path)
    compiled.run.restype = ctypes.c_int64
    width = len(seen_in_body(indexing_map, "c"))
    buffer = (ctypes.c_int64 * (1 << 12))()
    for point, wanted in right.items():
        count = compiled.run((ctypes.c_int64 * (outer + 1))(*point), buffer)
        found = [list(buffer[place * width :][:width]) for place in range(count)]
        assert found == wanted, point


SEEN = "int64_t **seen, int64_t *count"


# JavaScript.


@needs("node")
def test_loops_in_javascript_visit_the_points_of_the_domain(tmp_path: Path) -> None:
    lines: list[str] = []
    right: list[list[list[list[int]]]] = []
    for text in LOOPED.values():
        indexing_map = parse_map(text)
        body = f"seen.push([{', '.join(seen_in_body(indexing_map, 'javascript'))}]);"
        source = emit_loops(indexing_map, "javascript", body, "r", parameters="seen")
        by_point = expected(indexing_map)
        right.append([*by_point.values()])
        calls = "".join(
            f"seen = []; r_loops({', '.join([*map(str, point), 'seen'])}); all.push(seen);\n"
            for point in by_point
        )
        lines.append(f"{{ {source}\nlet seen; const all = [];\n{calls} every.push(all); }}")
    program = (
        f'"use strict"; const every = []; {"".join(lines)}; console.log(JSON.stringify(every))'
    )
    printed = run_node(program, tmp_path / "loops.js")
    for name, found, wanted in zip(LOOPED, json.loads(printed), right, strict=True):
        assert found == wanted, name


# NumPy and Triton: many points at once.


def check_masks(indexing_map: IndexingMap, rows: list[tuple[Any, ...]]) -> None:
    """Compares masks, ranges and results with those of each point."""
    right = expected(indexing_map)
    found: dict[Row, list[list[int]]] = {point: [] for point in right}
    for mask, *values in rows:
        columns = [np.broadcast_to(plain(each), len(right)).tolist() for each in (mask, *values)]
        for point, is_inside, *row in zip(right, *columns, strict=True):
            if is_inside:
                found[point].append(row)
    assert found == right


def plain(value: object) -> Any:  # noqa: ANN401 - an array, or a number
    return getattr(value, "values", value)


def columns_of(indexing_map: IndexingMap) -> list[np.ndarray[Any, Any]]:
    outer = len(indexing_map.domain.variables) - len(indexing_map.ranges)
    points = [*expected(indexing_map)]
    return [*np.array(points, dtype=np.int64).reshape(len(points), outer).T]


def seeing(indexing_map: IndexingMap, language: str) -> str:
    body = f"seen.append(({', '.join(['mask', *seen_in_body(indexing_map, language)])},))"
    return emit_loops(indexing_map, language, body, "r", parameters="seen")


def check_numpy(indexing_map: IndexingMap) -> None:
    scope: dict[str, Any] = {}
    exec(seeing(indexing_map, "numpy"), scope)  # noqa: S102 - the text under test
    rows: list[tuple[Any, ...]] = []
    with np.errstate(divide="ignore"):
        scope["r_loops"](*columns_of(indexing_map), rows)
    check_masks(indexing_map, rows)


@by_map
def test_loops_in_numpy_say_which_points_are_inside(text: str) -> None:
    check_numpy(parse_map(text))


@seldom
@given(maps())
def test_loops_of_random_maps_say_which_points_are_inside(indexing_map: IndexingMap) -> None:
    check_numpy(indexing_map)


@by_map
def test_loops_in_triton_say_which_points_are_inside(text: str) -> None:
    indexing_map = parse_map(text)
    rows: list[tuple[Any, ...]] = []
    compute = functions_of(seeing(indexing_map, "triton"))["r_loops"]
    with np.errstate(divide="ignore"):  # what is chosen away is computed, too
        compute(*tensors(columns_of(indexing_map)), rows)
    check_masks(indexing_map, rows)


# What the loops look like.


def looped(name: str, language: str = "c") -> str:
    """The loops of a map, with nothing in them."""
    return emit_loops(parse_map(LOOPED[name]), language, "", "r")


def test_constraints_become_the_ends_of_loops() -> None:
    text = looped("a window")
    assert "for (int32_t s0 = maximum32(d0 * -2 + 1, 0); s0 < 3; ++s0) {" in text
    assert "if" not in re.sub("#.*", "", text)


def test_residues_become_the_steps_of_loops() -> None:
    text = looped("a dilated window")
    assert "; s0 += 2) {" in text
    assert "if (" not in text


def test_what_no_loop_can_meet_is_asked_outside_of_the_loops_that_do_not_change_it() -> None:
    text = looped("no line")
    heads = re.findall(r"(if|for) \((?:int32_t (\w+) = )?(.*?)[;)]", text)
    assert [(word, name or asked) for word, name, asked in heads] == [
        ("if", "d0 * d0 >= 1"),
        ("for", "s0"),
        ("if", "s0 * s0 >= 1 && s0 * s0 < 10"),
        ("for", "s1"),
        ("if", "d0 * s1 >= -3 && d0 * s1 < 4"),
    ]


def test_masks_stand_outside_of_the_loops_that_do_not_change_them() -> None:
    text = looped("no line", "triton")
    before, outer, inner = re.split(r"for s\d in", text)
    assert "d0 * d0 >= 1" in before
    assert "s0 * s0 < 10" in outer
    assert "mask = is_inside & is_inside_2 & is_inside_3 & (d0 * s1 >= -3)" in inner


def test_loops_are_split_where_that_spares_divisions() -> None:
    text = looped("digits")
    counters = [("s0_by_12", "4"), ("s0_by_4", "3"), ("s0_by_1", "4")]
    assert re.findall(r"int32_t (\w+) = 0; \w+ < (\d+)", text) == counters
    assert not re.search(r"[/%&]|>>", text.partition("{")[2])


def test_results_are_computed_where_they_are_known() -> None:
    made = parse_map("(d0)[s0] -> (d0 floordiv 3, s0), domain: d0 in [0, 8], s0 in [0, 2]")
    text = emit_loops(made, "c", "", "r")
    assert text.index("r0 =") < text.index("for (") < text.index("r1 =")


# Several maps.


@needs("cc")
def test_ranges_of_one_name_are_one_loop(tmp_path: Path) -> None:
    read = parse_map(
        "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [1, 10]"
    )
    weight = parse_map("()[s0] -> (2 - s0), domain: s0 in [0, 2]")
    arrays = "const int32_t *x, const int32_t *w, int32_t *y"
    body, names = "*y += x[read] * w[weight];", ["read", "weight"]
    text = emit_loops([read, weight], "c", body, names, parameters=arrays)
    text += (
        f"void run({arrays})"
        + """ {
  for (int32_t d0 = 0; d0 < 10; ++d0) read_weight_loops(d0, x, w, &y[d0]);
}
"""
    )
    x, w, y = np.arange(3, 13, dtype="int32"), np.array([2, 3, 5], "int32"), np.zeros(10, "int32")
    shared_library(text, tmp_path).run(
        *(each.ctypes.data_as(ctypes.c_void_p) for each in (x, w, y))
    )
    assert y.tolist() == np.convolve(x, w, "same").tolist()


# What is refused.

IDENTITY = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 3]")
test_what_cannot_be_written_is_refused = refusals(globals(), MapError, TypeError)("""
emit_loops([IDENTITY], "mlir", "") => emit_loops: language is 'mlir'; expected c, cuda
emit_loops([IDENTITY], ["c"], "") => expected its name
emit_loops([IDENTITY], "c", "", "d0") => emit_loops: d0 is a result and also a variable
emit_loops([IDENTITY], "c", "", "mask")
    emit_loops: mask is a result and also what says which points are inside
emit_loops([IDENTITY], "c", 3) => emit_loops: body is 3; expected a string
emit_loops([IDENTITY], "c", "", ["a", "b"]) => emit_loops: got 2 names; expected 1, one for each map
emit_loops([], "c", "") => emit_loops: maps is empty; expected a map at least
emit_loops([IDENTITY, parse_map("(s0) -> (s0), domain: s0 in [0, 3]")], "c", "")
    emit_loops: s0 is a range of one map and none of another; expected names of one role
emit_loops([parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, inf]")], "c", "")
    emit_loops: s0 has the bounds
""")

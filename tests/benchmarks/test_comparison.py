"""The comparison with other simplifiers: same problems each time, and it notices who is worse."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from benchmarks import generate, growth, ours, peers, simplify
from benchmarks.clock import time_limit
from benchmarks.comparison import INPUT, Code, Excess, Row, Standing

from benchmarks.comparison import bill, compared, standing, summary  # isort: skip
from benchmarks.machine import MACHINES, Machine, Writer
from benchmarks.peers import Answer, Peer, UnsupportedError
from benchmarks.problems import Ends, Movement, Problem, published, seeded
from benchmarks.width import NaturalReading
from simplifier.expr.text import parse_form
from simplifier.extraction.cost import cost_of_form
from simplifier.extraction.width import divides_by_negative
from tests.cases import for_all
from tests.evaluation import values_of

PROBLEM = Problem("halves", "x // 2 + (x + 1) // 2", {"x": (0, 9)})


def answering(*texts: str, name: str = "parrot") -> Peer:
    return Peer(name, "1", lambda _: Answer(tuple(map(parse_form, texts)), 1e-6))


ECHO = Peer("ours", "", lambda problem: Answer((problem.form,), 0.0))
"""It answers with the question."""


def rows_of(problem: Problem, *others: Peer) -> list[Row]:
    return list(compared([problem], [ours.load(), *others], runs=1))


def test_problems_depend_on_seed_and_number_alone() -> None:
    assert generate.problems(3, 22) == generate.problems(3, 44)[:22]
    assert generate.problems(3, 22) != generate.problems(4, 22)
    expected = "((((d2 * 60 + d0 * 12 + d1) % 3) * 40 + ((d2 * 60 + d0 * 12 + d1) // 3)) // 3) * 3"
    assert generate.problem(0, 1, "transpose").text.startswith(expected)


@for_all([*generate.KINDS])
def test_every_kind_gives_problems_worth_asking(kind: str) -> None:
    for number in range(5):
        problem = generate.problem(0, number, kind)
        assert generate.operators_in(problem.text) >= generate.LEAST_OPERATORS
        assert dict(problem.bounds).keys() == problem.ends.keys()


@pytest.mark.parametrize("adapter", peers.ADAPTERS)
def test_a_peer_that_is_there_answers_rightly(adapter: str) -> None:
    peer = peers.load(adapter)
    if isinstance(peer, str):
        assert adapter in peer
        return
    transpose = Movement((96,), (("reshape", (12, 8)), ("transpose", (1, 0)), ("reshape", (96,))))
    problem = Problem("transpose", "(d0 % 12) * 8 + d0 // 12", {"d0": (0, 95)}, transpose)
    (row,) = rows_of(problem, peer)
    assert row.outcomes[peer.name].form is not None
    assert not row.outcomes[peer.name].is_wrong


def test_xla_answers_programs() -> None:
    xla = peers.load("xla")
    if isinstance(xla, str):
        pytest.skip(xla)
    program, other = generate.problem(0, 1, "transpose"), Problem("half", "d0 // 2", {"d0": (0, 9)})
    answers = [row.outcomes["XLA"].form for row in compared([program, other], [xla], runs=1)]
    assert answers == [parse_form("(d1 mod 3) * 40 + d0 * 4 + d2 * 20 + d1 floordiv 3"), None]


def moved(movement: Movement) -> np.ndarray:
    """The offset in the operand of each element of the result."""
    array = np.arange(math.prod(movement.operand)).reshape(movement.operand)
    for kind, numbers in movement.steps:
        array = array.reshape(numbers) if kind == "reshape" else array.transpose(numbers)
    return array


@for_all(["reshape", "transpose", "power", "flat"])
def test_the_program_of_a_problem_reads_there(kind: str) -> None:
    found = [generate.problem(1, number, kind) for number in range(12)]
    programs = [(each, each.movement) for each in found if each.movement]
    assert len(programs) > 5
    for problem, movement in programs:
        offsets = moved(movement)
        assert offsets.shape == tuple(interval.size for _, interval in problem.bounds)
        points = problem.points(seeded(problem.name), 40)
        values, _ = values_of(problem.form, points)
        read = offsets[tuple(np.array(column, dtype=int) for column in points.values())]
        places = (read, *np.unravel_index(read, movement.operand))
        assert any(np.array_equal(values, index) for index in places)


def test_isl_answers_extrema_operand_by_operand_and_we_as_well_as_it() -> None:
    isl = peers.load("isl")
    assert isinstance(isl, Peer)
    answer = isl.solve(Problem("clamp", "min(max(x // 2 * 2 + x % 2, 3), 9)", {"x": (0, 20)}))
    assert parse_form("min(max(x, 3), 9)") in answer.forms
    rows = list(compared(published()[:8], [ours.load(), isl], runs=1))
    assert [row.problem.name for row in rows if not row.is_at_best("ours", "ours")] == []


@for_all(["x", "x + 0 * x", "x + 1", "x + x // 20", "3 * x - 2 * x + x // 20"])
def test_results_are_held_against_the_truth(text: str) -> None:
    (row,) = rows_of(PROBLEM, answering(text))
    assert row.outcomes["parrot"].is_wrong == (text == "x + 1")
    assert row.excess("ours") <= 0


def test_a_cheaper_peer_is_noticed_by_its_cheapest_narrow_answer() -> None:
    (row,) = compared([PROBLEM], [ECHO, answering("x")], runs=1)
    assert (row.excess("ours"), row.best_peer("ours")) == (4, "parrot")
    (row,) = compared([ROWS], [answering(GOLFED, ROWS.text)], runs=1)
    found = row.outcomes["parrot"]
    assert (found.form, found.is_wide) == (ROWS.form, False)


@for_all([UnsupportedError("min"), RuntimeError("out of luck")])
def test_a_peer_without_an_answer_pays_the_cost_of_the_question(error: Exception) -> None:
    def fail(_: Problem) -> Answer:
        raise error

    rows = rows_of(PROBLEM, Peer("mute", "", fail))
    found = summary(rows, "mute", "ours")
    assert (found.unanswered, found.total_cost) == (1, cost_of_form(PROBLEM.form))


ROWS = Problem("rows", "(d0 % 8) * 262144 + d0 // 8", {"d0": (0, 2047)})
GOLFED = "(d0 * 262144) mod 2097151"
TORN = "d0 * 262144 - (d0 floordiv 8) * 2097151"

WIDTHS = [
    # problem, bounds, formula, whether it is wide
    (ROWS.text, ROWS.ends, ROWS.text, False),
    (ROWS.text, ROWS.ends, GOLFED, True),
    (ROWS.text, ROWS.ends, TORN, True),
    ("-d0 % 128", {"d0": (0, 999)}, "(-d0) mod 128", False),
    ("-d0 % 128", {"d0": (0, 999)}, "(d0 * 127) mod 128", True),
    ("-d0 % 128", {"d0": (0, 10**6)}, "(d0 * 127) mod 128", True),
    ("(x * 12 + y) // 7", {"x": (0, 9), "y": (0, 11)}, "(x * 12 + y) floordiv 7", False),
    ("(x * 12 + y) // 7", {"x": (0, 9), "y": (0, 11)}, "(x * 24 + y * 2) floordiv 14", True),
    ("(d0 % 2 * 1024 + d0 // 2) // 16 % 128", ROWS.ends, "((d0 * 2049) floordiv 32) mod 128", True),
    ("(x * 2 + y // 64) // 3", {"x": (0, 99), "y": (0, 99)}, "(x * 128 + y) floordiv 192", False),
    ("(x * 2 + x // 64) // 3", {"x": (0, 999)}, "(x * 129) floordiv 192", True),
    ("y - x // 128", {"x": (0, 400), "y": (0, 9)}, "y + 12 - (x + 1536) floordiv 128", True),
    ("(d0 + 2) // 3 * 3", {"d0": (0, 99)}, "(d0 ceildiv 3) * 3", False),
    ("min(x + 9, y)", {"x": (0, 9), "y": (0, 5)}, "min(y, x + 9)", False),
    ("min(x, 5)", {"x": (0, 9)}, "min(x * 7, 35) floordiv 7", True),
    ("x - 40", {"x": (0, 50)}, "x * 2 - x - 40", False),  # like terms are collected
]


@for_all(WIDTHS)
def test_a_wide_part_is_seen(text: str, ends: dict[str, Ends], formula: str, wide: bool) -> None:
    reading = NaturalReading(Problem("", text, ends))
    assert reading.is_wide(parse_form(formula)) == wide


def test_negative_divisors_are_found_at_any_depth() -> None:
    negative = ["x floordiv -3 + y", "min(y, (x % -3) ceildiv 2)"]
    positive = ["x floordiv 3", "(-x) mod 3", "x floordiv y"]
    found = [text for text in (*negative, *positive) if divides_by_negative(parse_form(text))]
    assert found == negative


def test_a_wide_result_is_no_rival_and_no_merit() -> None:
    digits = Problem("digits", "(d0 % 7) * 5 + d0 // 7", {"d0": (0, 33)})
    wide, narrow = answering("(d0 * 5) mod 34", name="wide"), answering(digits.text)
    cost = cost_of_form(digits.form)
    (row,) = compared([digits], [wide, narrow], runs=1)
    assert row.outcomes["wide"].cost < cost
    assert [row.best_peer(name) for name in ("wide", "parrot")] == ["parrot", None]
    assert [row.is_at_best(name, "wide") for name in ("wide", "parrot")] == [False, True]
    assert standing([row], "wide") == Standing(1, 0, 0, 0, 0, wide=1, best_cost_of_wide=cost)
    assert standing([row], "parrot").problems == 0


def test_narrow_results_are_totalled_and_wide_and_negative_ones_counted() -> None:
    (row,) = compared([PROBLEM], [answering("x", name="short"), answering(PROBLEM.text)], runs=1)
    cost = cost_of_form(PROBLEM.form)
    assert standing([row], "short") == Standing(1, 1, 1, 0, cost, 0, 0)
    assert standing([row], "parrot") == Standing(1, 0, 0, cost, 0, 0, 0)
    rows = rows_of(ROWS, answering(GOLFED, name="wide"), answering("d0 floordiv -1"))
    counts = [summary(rows, name, "ours") for name in ("wide", "parrot")]
    assert [(found.wide, found.negative, found.wrong) for found in counts] == [(1, 0, 0), (0, 0, 1)]
    halves = Problem("halves", "x // -2", {"x": (0, 9)})
    assert summary(rows_of(halves, answering("x floordiv -2")), "parrot", "ours").negative == 1


@pytest.fixture(params=MACHINES, ids=lambda machine: machine.name)
def machine(request: pytest.FixtureRequest) -> Machine:
    if not request.param.is_there:
        pytest.skip(request.param.name)
    return request.param


BOX = Problem("box", "", {"x": (0, 1000), "y": (-5, 5)})

CODE: list[tuple[str, str | None, set[int]]] = [
    # formula, its C, divisors of what is negative somewhere
    ("x + 3", "(i32)((i32)x + (i32)3LL)", set()),
    ("x * 3000000", "(i64)((i64)x * (i64)3000000LL)", set()),
    ("x floordiv 8", "(i32)((i32)x >> (i32)3LL)", set()),
    ("y mod 8", "(i32)((i32)y & (i32)7LL)", {8}),
    ("x floordiv 7", "(i32)((u32)(i32)x / (u32)(i32)7LL)", set()),
    ("y floordiv 7", "(i32)(floor32((i32)y, (i32)7LL))", {7}),
    ("x floordiv (y + 6)", "(i32)((u32)(i32)x / (u32)(i32)(i32)((i32)y + (i32)6LL))", set()),
    ("x ceildiv 8", "(i32)((i32)(i32)((i32)x + (i32)7LL) >> (i32)3LL)", set()),
    ("min(y mod 7, y floordiv (x + 1))", None, {0, 7}),
    ("(x floordiv 7) * (x + 1)", None, set()),
]


@for_all(CODE)
def test_a_formula_in_c_has_its_operations(text: str, code: str | None, signed: set[int]) -> None:
    formula = Writer(BOX).formula(parse_form(text))
    assert code in (None, formula.result)
    assert (formula.parameters, formula.signed) == ("i32 x, i32 y", signed)


def test_instructions_of_formulas(machine: Machine) -> None:
    """Each takes more than the one before, whatever the machine."""
    texts = ["x", "x floordiv 7", "x mod 7", "x mod 7 + (y mod 11) * 5"]
    write = Writer(BOX).formula
    formulas = [write(parse_form(text)) for text in texts]
    counts = machine.counts(formulas)
    found = [counts[formula] for formula in formulas]
    assert found == sorted(set(found))
    again = write(parse_form("x mod 7 + x floordiv 7"))
    assert machine.counts([again])[again] < counts[formulas[1]] + counts[formulas[2]]


def test_a_bill_names_what_a_peer_does_better(machine: Machine) -> None:
    problems = [PROBLEM, Problem("thirds", "x - x // 3 * 3", {"x": (0, 9)})]
    codes = [Code.of(row, "ours") for row in compared(problems, [ECHO, answering("x")], runs=1)]
    found = bill(codes, machine, "ours")
    assert found.best_peer == "parrot"
    assert found.totals["parrot"] < found.totals["ours"] == found.totals[INPUT]
    (excess,) = found.excesses[
        "ours"
    ]  # the parrot is wrong about thirds, and pays for the question
    assert excess == Excess(codes[0].row, excess.ours, "parrot", excess.theirs)
    assert excess.ours > excess.theirs
    assert bill([codes[1]], machine, "ours").excesses["ours"] == []


def test_a_new_negative_dividend_is_noticed() -> None:
    problem = Problem("remainder", "(x + 2) % 3", {"x": (0, 9)})
    (row,) = compared([problem], [answering("(x - 1) mod 3"), ours.load()], runs=1)
    code = Code.of(row, "ours")
    assert [code.new_signs(name) for name in ("parrot", "ours", INPUT)] == [{3}, set(), set()]
    (row,) = compared([replace(problem, text="(x - 2) % 3")], [answering("(x + 1) mod 3")], runs=1)
    assert Code.of(row, "parrot").new_signs("parrot") == set()


def test_a_missing_compiler_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simplify, "MACHINES", [replace(MACHINES[0], compiler="none-such")])
    simplify.main(["--parts", "random", "--count", "2", "--runs", "1", "--peers", ""])
    out = capsys.readouterr().out
    assert "absent: gcc: there is no none-such\n" in out
    assert "random: 2 problems" in out


def test_the_program_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "numbers.json"
    options = ["--quick", "--parts", "random", "--count", "11", "--peers", "isl"]
    simplify.main([*options, "--json", str(file)])
    report = json.loads(file.read_text("utf-8"))
    ours_found, isl_found = report["random"]["summaries"]
    assert (ours_found["name"], ours_found["wrong"], isl_found["name"]) == ("ours", 0, "isl")
    machines = [each.name for each in MACHINES if each.is_there]
    found = report["random"].get("instructions", {})
    assert [*found] == ([*machines, "new negative"] if machines else [])
    assert "random: 11 problems" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        simplify.main(["--parts", "all"])
    assert "'all' is not known; expected some of published" in capsys.readouterr().err


def test_growth_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = growth.report(10, tmp_path)
    assert sorted(numbers) == ["simplify-depth.svg", "simplify-terms.svg"]
    for file in numbers:
        picture = ET.parse(tmp_path / file)  # noqa: S314 - we wrote it
        texts = [element.text for element in picture.iter() if element.text]
        assert [text for text in texts if text.startswith("Time to simplify")]
    assert "microseconds a term" in capsys.readouterr().out


def test_what_takes_too_long_is_broken_off() -> None:
    end = time.monotonic() + 30
    with pytest.raises(TimeoutError), time_limit(0.05):
        all(time.monotonic() < end for _ in count())

"""The comparison with other simplifiers: same problems each time, and it notices who is worse."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from benchmarks import generate, growth, ours, peers, simplify
from benchmarks.clock import time_limit
from benchmarks.comparison import Row, compared, summary
from benchmarks.peers import Answer, Peer, UnsupportedError
from benchmarks.problems import Problem, published
from simplifier.expr.parser import parse_form
from simplifier.extraction.cost import cost_of_form

if TYPE_CHECKING:
    from pathlib import Path

PROBLEM = Problem("halves", "x // 2 + (x + 1) // 2", {"x": (0, 9)})


def answering(text: str) -> Peer:
    """A peer that gives the same answer to everything."""
    return Peer("parrot", "1", lambda _: Answer(parse_form(text), 1e-6))


def rows_of(problem: Problem, *others: Peer) -> list[Row]:
    return list(compared([problem], [ours.load(), *others], runs=1))


# Problems.


def test_problems_depend_on_seed_and_number_alone() -> None:
    assert generate.problems(3, 22) == generate.problems(3, 44)[:22]
    assert generate.problems(3, 22) != generate.problems(4, 22)


def test_problems_are_the_same_in_every_process() -> None:
    expected = "((((d2 * 60 + d0 * 12 + d1) % 3) * 40 + ((d2 * 60 + d0 * 12 + d1) // 3)) // 3) * 3"
    assert generate.problem(0, 1, "transpose").text.startswith(expected)


@pytest.mark.parametrize("kind", generate.KINDS)
def test_every_kind_gives_problems_worth_asking(kind: str) -> None:
    for number in range(5):
        problem = generate.problem(0, number, kind)
        assert cost_of_form(problem.form) >= generate.LEAST_COST
        assert dict(problem.bounds).keys() == problem.ends.keys()


# Peers.


@pytest.mark.parametrize("adapter", peers.ADAPTERS)
def test_a_peer_that_is_there_answers_rightly(adapter: str) -> None:
    peer = peers.load(adapter)
    if isinstance(peer, str):
        assert adapter in peer
        return
    (row,) = rows_of(Problem("whole", "(x // 8) * 8 + x % 8", {"x": (0, 99)}), peer)
    assert row.outcomes[peer.name].form is not None
    assert not row.outcomes[peer.name].is_wrong


def test_isl_answers_extrema_operand_by_operand() -> None:
    isl = peers.load("isl")
    assert isinstance(isl, Peer)
    answer = isl.solve(Problem("clamp", "min(max(x // 2 * 2 + x % 2, 3), 9)", {"x": (0, 20)}))
    assert answer.form == parse_form("min(max(x, 3), 9)")


@pytest.mark.parametrize(
    ("text", "wrong", "excess"),
    [
        ("x", False, 0),
        ("x + 0 * x", False, 0),
        ("x + 1", True, 0),
        ("x + x // 20", False, 0),
        ("3 * x - 2 * x + x // 20", False, 0),
    ],
)
def test_results_are_held_against_the_truth(text: str, wrong: bool, excess: int) -> None:
    (row,) = rows_of(PROBLEM, answering(text))
    assert row.outcomes["parrot"].is_wrong == wrong
    assert max(0, row.excess("ours")) == excess


def test_a_cheaper_peer_is_noticed() -> None:
    def solve(problem: Problem) -> Answer:
        return Answer(problem.form, 0.0)

    (row,) = compared([PROBLEM], [Peer("ours", "", solve), answering("x")], runs=1)
    assert (row.excess("ours"), row.best_peer("ours")) == (8, "parrot")


@pytest.mark.parametrize("error", [UnsupportedError("min"), RuntimeError("out of luck")])
def test_a_peer_without_an_answer_pays_the_cost_of_the_question(error: Exception) -> None:
    def fail(_: Problem) -> Answer:
        raise error

    rows = rows_of(PROBLEM, Peer("mute", "", fail))
    found = summary(rows, "mute", "ours")
    assert (found.unanswered, found.total_cost) == (1, cost_of_form(PROBLEM.form))


# The program.


def test_published_problems_are_solved_as_published() -> None:
    rows = list(compared(published()[:8], [ours.load()], runs=1))
    assert [row.problem.name for row in rows if row.excess("ours") > 0] == []


def test_the_program_writes_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    simplify.main(
        ["--quick", "--parts", "random", "--count", "11", "--peers", "isl", "--json", str(file)]
    )
    report = json.loads(file.read_text("utf-8"))
    ours_found, isl_found = report["random"]["summaries"]
    assert (ours_found["name"], ours_found["wrong"], isl_found["name"]) == ("ours", 0, "isl")
    assert "random: 11 problems" in capsys.readouterr().out


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
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


def busy_for(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_what_takes_too_long_is_broken_off() -> None:
    with pytest.raises(TimeoutError), time_limit(0.05):
        busy_for(30)

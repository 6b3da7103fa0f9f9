"""The tables in docs/xla_tests.md; run as a program, it writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.pages import with_generated
from tests.xla.facts import Fact, Verdict, facts
from tests.xla.outcome import Outcome
from tests.xla.questions import outcome

PAGE: Final = Path(__file__).parents[2] / "docs" / "xla_tests.md"
COUNTS: Final = "counts"
CASES: Final = "cases"
UNASKED: Final = "nothing for us"
"""The names of the marks between which something is generated."""

UNLIKE: Final = frozenset((Verdict.BETTER, Verdict.DIFFERENT))
COUNTED: Final = (Verdict.SAME, Verdict.BETTER, Verdict.DIFFERENT)


def by_suite() -> dict[str, dict[int, Fact]]:
    suites: dict[str, dict[int, Fact]] = defaultdict(dict)
    for place, fact in enumerate(facts()):
        if fact.suite:
            suites[fact.suite][place] = fact
    return dict(sorted(suites.items()))


# How many.


def counts() -> str:
    total: Counter[str] = Counter()
    lines: list[str] = []
    for suite, asked in by_suite().items():
        numbers = _numbers([*asked.values()])
        lines.append(_row(f"`{suite}`", *numbers.values()))
        total.update(numbers)
    return "\n".join([_COUNTS_HEAD, *lines, _row("together", *total.values())])


_COUNTS_HEAD: Final = (
    "| suite | tests | not for us | facts | same | better | different |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def _numbers(facts: list[Fact]) -> dict[str, int]:
    asked = [fact for fact in facts if fact.verdict is not Verdict.UNASKED]
    verdicts = Counter(fact.verdict for fact in asked)
    tests = {fact.test for fact in facts}
    return {
        "tests": len(tests),
        "not for us": len(tests - {fact.test for fact in asked}),
        "facts": len(asked),
        **{verdict.value: verdicts[verdict] for verdict in COUNTED},
    }


# Which.


def cases() -> str:
    return "\n".join(line for suite, asked in by_suite().items() for line in _section(suite, asked))


def _section(suite: str, asked: dict[int, Fact]) -> Iterator[str]:
    unlike = [(fact, outcome(at)) for at, fact in asked.items() if fact.verdict in UNLIKE]
    if unlike:
        yield f"### `{suite}`\n"
        yield _CASES_HEAD
        yield from (_row(_tests(names), *cells) for cells, names in _cases(unlike).items())
        yield ""


_CASES_HEAD: Final = "| test | | XLA | we | why |\n| --- | --- | --- | --- | --- |"


def _cases(unlike: list[tuple[Fact, Outcome]]) -> dict[tuple[str, ...], dict[str, None]]:
    """The cells of a case, and the tests that have it."""
    tests: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for fact, answer in unlike:
        tests[_cells(fact, answer)][fact.test] = None
    return tests


def page_row(fact: Fact, answer: Outcome) -> str:
    """What the page says of an answer that is another one, behind the names of tests."""
    return _row(*_cells(fact, answer)).removeprefix("|")


def _cells(fact: Fact, answer: Outcome) -> tuple[str, ...]:
    texts = map(_code, _without_shared_domain(answer.xla, answer.ours))
    return fact.verdict.value, *texts, fact.why


def _without_shared_domain(xla: str, ours: str) -> tuple[str, str]:
    """The texts of two maps, without their domain if it is the same."""
    (head, _, domain), (our_head, _, our_domain) = (t.partition(_DOMAIN) for t in (xla, ours))
    return (head, our_head) if domain == our_domain else (xla, ours)


_DOMAIN: Final = ", domain: "


# What nobody asks.


def unasked() -> str:
    """For each suite, what its tests state that has no counterpart here, how often, and why."""
    lines = [
        _row(f"`{suite}`", count, why, _tests(names))
        for suite, asked in by_suite().items()
        for why, (count, names) in _reasons(asked.values()).items()
    ]
    return "\n".join([_UNASKED_HEAD, *lines])


_UNASKED_HEAD: Final = "| suite | facts | why | tests |\n| --- | ---: | --- | --- |"


def _reasons(facts: Iterable[Fact]) -> dict[str, tuple[int, dict[str, None]]]:
    """Why facts ask nothing of us: how many there are, and the tests that state them."""
    found: dict[str, tuple[int, dict[str, None]]] = {}
    for fact in facts:
        if fact.verdict is Verdict.UNASKED:
            count, tests = found.get(fact.why, (0, {}))
            found[fact.why] = count + fact.row.get("facts", 1), tests | {fact.test: None}
    return found


def _tests(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _code(text: str) -> str:
    """A text of one or more lines, as code in a cell of a table."""
    return "<br>".join(f"`{line}`" for line in text.replace("|", "\\|").splitlines()) or "nothing"


# The page.


def written(page: str) -> str:
    for mark, text in ((COUNTS, counts()), (CASES, cases()), (UNASKED, unasked())):
        page = with_generated(page, mark, text)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")

"""The tables in docs/xla_tests.md; run as a program, it writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.pages import with_generated
from tests.xla.facts import Fact, Outcome, Verdict, facts
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


def _table(columns: str, rows: Iterable[str]) -> str:
    """A table; columns of numbers begin with a colon."""
    names = columns.split(", ")
    marks = ("---:" if name.startswith(":") else "---" for name in names)
    return "\n".join([_row(*(name.lstrip(":") for name in names)), _row(*marks), *rows])


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _tests(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def counts() -> str:
    numbers = {f"`{suite}`": _numbers([*asked.values()]) for suite, asked in by_suite().items()}
    numbers["together"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    columns = "suite, :tests, :not for us, :facts, :same, :better, :different"
    return _table(columns, (_row(name, *row) for name, row in numbers.items()))


def _numbers(facts: list[Fact]) -> list[int]:
    asked = [fact for fact in facts if fact.verdict is not Verdict.UNASKED]
    verdicts = Counter(fact.verdict for fact in asked)
    tests = {fact.test for fact in facts}
    unasked = tests - {fact.test for fact in asked}
    return [len(tests), len(unasked), len(asked), *(verdicts[verdict] for verdict in COUNTED)]


def cases() -> str:
    sections = (_section(suite, asked) for suite, asked in by_suite().items())
    return "\n".join(section for section in sections if section)


def _section(suite: str, asked: dict[int, Fact]) -> str:
    """The facts of a suite to which our answer is another one, with the tests that have each."""
    tests: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for place, fact in asked.items():
        if fact.verdict in UNLIKE:
            tests[_cells(fact, outcome(place))][fact.test] = None
    rows = (_row(_tests(names), *cells) for cells, names in tests.items())
    return f"### `{suite}`\n\n{_table('test, , XLA, we, why', rows)}\n" if tests else ""


def page_row(fact: Fact, answer: Outcome) -> str:
    """What the page says of an answer that is another one, behind the names of tests."""
    return _row(*_cells(fact, answer)).removeprefix("|")


def _cells(fact: Fact, answer: Outcome) -> tuple[str, ...]:
    """A domain that both maps have is left out."""
    texts = answer.xla, answer.ours
    (head, _, domain), (our_head, _, our_domain) = (text.partition(", domain: ") for text in texts)
    shown = (head, our_head) if domain == our_domain else texts
    return fact.verdict.value, *map(_code, shown), fact.why


MAX_COLUMNS: Final = 80
"""The characters of an answer that the page shows; the rows of the tests have all of them."""


def _code(text: str) -> str:
    """A text as code in a cell of a table: its first lines that are short."""
    lines = text.replace("|", "\\|").splitlines()
    shown = [line for line in lines if len(line) <= MAX_COLUMNS][:2]
    shown = shown or [f"{line[:MAX_COLUMNS]} ..." for line in lines[:1]]
    return "<br>".join(f"`{line}`" for line in shown) or "nothing"


def unasked() -> str:
    """What XLA's tests state that has no counterpart here: why, how often, and in which suites."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for suite, asked in by_suite().items():
        for fact in asked.values():
            if fact.verdict is Verdict.UNASKED:
                counts[fact.why][suite] += fact.row.get("facts", 1)
    rows = (_row(why, of.total(), _tests(of)) for why, of in sorted(counts.items()))
    return _table("why, :facts, suites", rows)


def written(page: str) -> str:
    for mark, text in ((COUNTS, counts()), (CASES, cases()), (UNASKED, unasked())):
        page = with_generated(page, mark, text)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")

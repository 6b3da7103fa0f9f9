"""The lists in docs/xla_tests.md and beside it; run as a program, it writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.pages import with_generated
from tests.xla.facts import Fact, Outcome, Verdict, facts
from tests.xla.questions import outcome

PAGE: Final = Path(__file__).parents[2] / "docs" / "xla_tests.md"
LIST: Final = PAGE.with_suffix(".txt")
"""Every answer that is another one, with XLA's."""
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


def counts() -> str:
    """A line of numbers for each suite, and for all."""
    numbers = {suite: _numbers([*asked.values()]) for suite, asked in by_suite().items()}
    numbers["together"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    width = max(map(len, numbers))
    lines = (f"{suite:{width}}" + "".join(f"{n:10}" for n in row) for suite, row in numbers.items())
    names = ("tests", "other", "facts", "same", "better", "different")
    head = f"{'suite':{width}}" + "".join(f"{name:>10}" for name in names)
    return "\n".join(["```text", head, *lines, "```"])


def _numbers(facts: list[Fact]) -> list[int]:
    asked = [fact for fact in facts if fact.verdict is not Verdict.UNASKED]
    verdicts = Counter(fact.verdict for fact in asked)
    tests = {fact.test for fact in facts}
    unasked = tests - {fact.test for fact in asked}
    return [len(tests), len(unasked), len(asked), *(verdicts[verdict] for verdict in COUNTED)]


def cases() -> str:
    """The facts of all suites to which our answer is a different one."""
    sections = (_section(suite, asked) for suite, asked in by_suite().items())
    return "\n".join(section for section in sections if section)


def _section(suite: str, asked: dict[int, Fact]) -> str:
    """The different answers of a suite, with the tests that have each."""
    tests: dict[str, dict[str, None]] = defaultdict(dict)
    for place, fact in asked.items():
        if fact.verdict is Verdict.DIFFERENT:
            tests[page_line(fact, place)][fact.test] = None
    lines = [f"* {_tests(names)}{line}" for line, names in tests.items()]
    return "\n".join([f"### `{suite}`", "", *lines, ""]) if tests else ""


def page_line(fact: Fact, place: int) -> str:
    """What the page says of a different answer, behind the names of tests."""
    xla, ours = map(_code, short_answers(outcome(place)))
    return f", XLA {xla}, we {ours}: {fact.why}"


def unlike() -> str:
    """The facts to which our answer is another one, better or different, with both answers."""
    return "\n".join(
        list_lines(fact, place)
        for asked in by_suite().values()
        for place, fact in asked.items()
        if fact.verdict in UNLIKE
    )


def list_lines(fact: Fact, place: int) -> str:
    """What the list says of a fact."""
    answer = outcome(place)
    said = f"{fact.suite} {fact.test}, {fact.verdict.value}: {fact.why}"
    return "\n".join([said, *_indented("XLA: ", answer.xla), *_indented("we:  ", answer.ours), ""])


def _indented(label: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines() or ["nothing"]):
        yield f"    {' ' * len(label) if number else label}{line}"


def short_answers(answer: Outcome) -> tuple[str, str]:
    """XLA's answer and ours; a domain that both have is left out."""
    (head, _, domain), (our_head, _, our_domain) = (
        text.partition(", domain: ") for text in (answer.xla, answer.ours)
    )
    return (head, our_head) if domain == our_domain else (answer.xla, answer.ours)


def _tests(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


MAX_COLUMNS: Final = 80
"""The characters of an answer that the page shows; the rows of the tests have all of them."""


def _code(text: str) -> str:
    """The first line of a text as code, its beginning if it is long."""
    line = next(iter(text.splitlines()), "")
    shown = line if len(line) <= MAX_COLUMNS else f"{line[:MAX_COLUMNS]} ..."
    return f"`{shown}`" if shown else "nothing"


FEW: Final = 5
"""Reasons of fewer facts are counted together."""


def unasked() -> str:
    """What XLA's tests state that has no counterpart here: why, and how often."""
    reasons = [fact for fact in facts() if fact.suite and fact.verdict is Verdict.UNASKED]
    counts = Counter[str]()
    for fact in reasons:
        counts[fact.why] += fact.row.get("facts", 1)
    many = {why: count for why, count in counts.items() if count >= FEW}
    few = counts.total() - sum(many.values())
    lines = [f"* {count}: {why}" for why, count in sorted(many.items(), key=lambda each: -each[1])]
    return "\n".join([*lines, f"* {few}: {len(counts) - len(many)} other reasons", ""])


def written(page: str) -> str:
    for mark, text in ((COUNTS, counts()), (CASES, cases()), (UNASKED, unasked())):
        page = with_generated(page, mark, text)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    LIST.write_text(unlike(), "utf-8")

"""Draws cases about one subject, checks the answers, and counts what it has asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Generic

from benchmarks.fuzzing import checks, kinds, map_checks, map_kinds, texts
from benchmarks.fuzzing.checks import complaint
from benchmarks.fuzzing.shrink import CaseT, shrunk
from benchmarks.problems import happens, seeded


@dataclass(frozen=True, slots=True)
class Subject(Generic[CaseT]):
    """What questions are about: kinds of random cases, and checks of the answers."""

    kinds: Mapping[str, Callable[[Random], CaseT]]
    checks: Mapping[str, Callable[[CaseT], str | None]]
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """How often a kind is drawn, relative to the others: 1 if it is not listed."""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """The share of the cases that a check is made of: all if it is not listed."""


SUBJECTS: Final[Mapping[str, Subject[Any]]] = {
    "expressions": Subject(kinds.KINDS, checks.CHECKS, kinds.WEIGHTS, checks.SHARES),
    "maps": Subject(map_kinds.KINDS, map_checks.CHECKS, map_kinds.WEIGHTS),
    "inverses": Subject({"quotients": map_kinds.KINDS["quotients"]}, map_checks.SOLVED),
    "texts": Subject(texts.KINDS, texts.CHECKS),
}


@dataclass(frozen=True, slots=True)
class Find:
    """A failure: the smallest case that shows it, the check that found it, and its message."""

    row: str
    check: str
    complaint: str
    origin: str

    @property
    def reproducer(self) -> str:
        """A row of a table of tests, below a comment with the failure."""
        return f'    # {self.complaint}\n    pytest.param({self.row}, id="{self.origin}"),'


@dataclass(slots=True)
class Search(Generic[CaseT]):
    """A search among the cases of one seed. A case depends on the seed and its number alone."""

    subject: Subject[CaseT]
    seed: int
    kinds: Sequence[str]
    drawn: Counter[str] = field(default_factory=Counter[str])
    """How many cases of each kind there were."""
    checked: Counter[str] = field(default_factory=Counter[str])
    """How many cases each check was made of."""
    found: int = 0
    known: set[str] = field(default_factory=set[str])

    def find(self, number: int) -> Find | None:
        """The shrunk failure of the case with this number; ``None`` if there is no new one."""
        subject, random = self.subject, seeded(self.seed, number)
        weights = [subject.weights.get(kind, 1) for kind in self.kinds]
        kind = random.choices(self.kinds, weights)[0]
        case = subject.kinds[kind](random).without_idle_variables()
        self.drawn[kind] += 1
        for name, check in subject.checks.items():
            if happens(random, subject.shares.get(name, 1)):
                self.checked[name] += 1
                said = complaint(case, check)
                if said is not None:
                    return self._shrunk(case, name, said, f"{name}, {kind} {self.seed}/{number}")
        return None

    def _shrunk(self, case: CaseT, name: str, said: str, origin: str) -> Find | None:
        """The failure made small; ``None`` if the same was found before."""
        if said in self.known:
            return None
        check = self.subject.checks[name]
        smallest = shrunk(case, lambda near: complaint(near, check) is not None)
        small_complaint = complaint(smallest, check) or said
        if small_complaint in self.known:
            return None
        self.known.update((said, small_complaint))
        self.found += 1
        return Find(smallest.row, name, small_complaint, origin)

    @property
    def counts(self) -> str:
        """How many cases of each kind, and of each check, there were."""
        return f"cases: {_counted(self.drawn)}\nchecks: {_counted(self.checked)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common())

"""The benchmark of kernels' expressions says how many are right, and how large."""

from __future__ import annotations

import pytest

from benchmarks import symbolic
from benchmarks.symbolic import TimedResult
from tests.wave_kernels import kernel


def test_the_report_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [*map(kernel, ("w130", "w134", "w97"))]
    monkeypatch.setattr(symbolic, "kernels", lambda: some)
    expressible, right, size, compared, time = symbolic.report(3, sample=0, limit=1)
    assert expressible == "expressible 3 of 3"
    assert right == "right       3 at 3 points each"
    assert size.endswith(f"of ixsimpl's {sum(each.cost for each in some)}")
    assert compared.endswith("larger 0")
    assert time.endswith("ms at worst")


def test_a_wrong_answer_is_not_right() -> None:
    given = kernel("w130")
    assert TimedResult(given, given.expression, 0).is_right(5)
    assert not TimedResult(given, given.expression + 1, 0).is_right(5)  # pyright: ignore[reportOperatorIssue] - it is a number


def test_sympy_gets_its_time_alone() -> None:
    given = kernel("w130")
    assert symbolic.seconds_of_sympy(given, 0.05) < 1

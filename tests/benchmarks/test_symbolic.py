"""The benchmark of kernels' expressions says how many are right, and how large."""

from __future__ import annotations

import pytest

from benchmarks import symbolic
from benchmarks.symbolic import TimedResult
from tests.wave_kernels import kernels


def test_the_report_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [each for each in kernels() if each.id in ("w130", "w134", "w97")]
    monkeypatch.setattr(symbolic, "kernels", lambda: some)
    expressible, right, size, compared, time = symbolic.report(3, sample=0, limit=1)
    assert expressible == "expressible 3 of 3"
    assert right == "right       3 at 3 points each"
    assert size.endswith(f"of ixsimpl's {sum(each.cost for each in some)}")
    assert compared.endswith("larger 0")
    assert time.endswith("ms at worst")


def test_a_wrong_answer_is_not_right() -> None:
    kernel = next(each for each in kernels() if each.id == "w130")
    assert TimedResult(kernel, kernel.expression, 0).is_right(5)
    assert not TimedResult(kernel, kernel.expression + 1, 0).is_right(5)  # pyright: ignore[reportOperatorIssue] - it is a number


def test_sympy_gets_its_time_alone() -> None:
    kernel = next(each for each in kernels() if each.id == "w130")
    assert symbolic.seconds_of_sympy(kernel, 0.05) < 1

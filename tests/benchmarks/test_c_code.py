"""The benchmark of generated C compares two right functions, in the integers that they need."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks import c_code
from benchmarks.c_code import Transposition, bits_of, compiled, times_of, transpositions
from indexing import parse_map

needs_compiler = pytest.mark.skipif(
    shutil.which(c_code.COMPILER) is None, reason=f"there is no C compiler: {c_code.COMPILER}"
)
SMALL = [
    Transposition((4, 6), (1, 0)),
    Transposition((2, 3, 5), (2, 0, 1)),
    Transposition((8, 4, 16, 2), (0, 3, 2, 1)),
]
by_transposition = pytest.mark.parametrize("transposition", SMALL, ids=str)


def flat_indices(transposition: Transposition) -> list[int]:
    """NumPy's flat index in the operand of each element of the result."""
    operand = np.arange(transposition.elements).reshape(transposition.sizes)
    return operand.transpose(transposition.order).ravel().tolist()


@by_transposition
def test_the_map_of_a_transpose_is_that_of_numpy(transposition: Transposition) -> None:
    (values,) = transposition.flat_map.to_numpy()(np.arange(transposition.elements))
    assert list(values) == flat_indices(transposition)


@by_transposition
def test_plain_digits_are_those_of_numpy(transposition: Transposition) -> None:
    plain = compile(transposition.digits.replace("/", "//"), "digits", "eval")
    values = [eval(plain, {"i": i}) for i in range(transposition.elements)]  # noqa: S307 - ours
    assert values == flat_indices(transposition)


def test_drawn_transposes_move_elements_and_depend_on_the_seed_alone() -> None:
    drawn = transpositions(0, 12)
    assert drawn == transpositions(0, 24)[:12]
    assert drawn != transpositions(1, 12)
    assert all(each.order != tuple(range(len(each.order))) for each in drawn)
    assert all(c_code.LEAST_ELEMENTS <= each.elements <= c_code.MAX_ELEMENTS for each in drawn)
    powers = [each.elements & (each.elements - 1) == 0 for each in drawn]
    assert powers[::3] == [True] * 4
    assert not all(powers)


@pytest.mark.parametrize(
    ("result", "bits"),
    [
        ("d0 * 2147483", 32),
        ("d0 * 2147484", 64),
        ("d0 * -2147483", 32),
        ("(d0 * 2147484) floordiv 1000 + d0", 64),
        ("(d0 * 3000000) mod 7000001", 64),
    ],
)
def test_a_formula_has_the_integers_that_its_parts_need(result: str, bits: int) -> None:
    assert bits_of(parse_map(f"(d0) -> ({result}), domain: d0 in [0, 1000]")) == bits


@needs_compiler
@by_transposition
def test_both_functions_have_the_checksum_of_numpy(
    transposition: Transposition, tmp_path: Path
) -> None:
    library = compiled(transposition, tmp_path)
    expected = sum(i * flat for i, flat in enumerate(flat_indices(transposition)))
    assert transposition.checksum() == expected
    assert library.sum_ours(transposition.elements) == expected
    assert library.sum_plain(transposition.elements) == expected


@needs_compiler
def test_a_wrong_checksum_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: Transposition) -> int:
        return -1

    monkeypatch.setattr(Transposition, "checksum", wrong)
    with pytest.raises(ArithmeticError, match=r"the checksum is \d+; NumPy's is -1"):
        times_of(SMALL[0], 1)


@needs_compiler
def test_the_program_prints_a_line_a_transpose(capsys: pytest.CaptureFixture[str]) -> None:
    c_code.main(["--count", "2", "--runs", "1"])
    _, first, second, total = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()[:1]) for line in (first, second)] == [
        "x".join(map(str, each.sizes)) for each in transpositions(0, 2)
    ]
    assert re.match(r"total: ours [\d.]+ ms, plain [\d.]+ ms, ratio [\d.]+; worst", total)


def test_without_a_compiler_the_program_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(c_code, "COMPILER", "no-such-compiler")
    c_code.main([])
    assert capsys.readouterr().out == "skipped: there is no C compiler: no-such-compiler\n"

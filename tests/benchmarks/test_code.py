"""Code by the library and by hand computes what NumPy and JAX do; its costs are compared."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import numpy as np
import pytest

import ops
from benchmarks import c_code, code, triton_by_hand, triton_code
from benchmarks.c_code import Transposition, bits_of, compiled, times_of, transpositions
from benchmarks.kernels import KERNELS, Kernel
from benchmarks.native import COMPILER, Workshop, check
from benchmarks.triton_by_hand import HandWritten
from indexing import parse_map
from tests.cases import for_all
from tests.kernels import fusions
from tests.kernels.triton_stand_in import run
from tests.ops.oracle import program
from tests.ops.standalone_programs import standalone

needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER) is None, reason=f"there is no C compiler: {COMPILER}"
)
ORDERS = {(4, 6): (1, 0), (2, 3, 5): (2, 0, 1), (8, 4, 16, 2): (0, 3, 2, 1)}
SMALL = [Transposition(*each) for each in ORDERS.items()]
by_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=attrgetter("name"))


def flat_indices(transposition: Transposition) -> list[int]:
    """NumPy's flat index in the operand of each element of the result."""
    operand = np.arange(transposition.elements).reshape(transposition.sizes)
    return operand.transpose(transposition.order).ravel().tolist()


@for_all(SMALL)
def test_the_map_of_a_transpose_and_plain_digits_are_those_of_numpy(moved: Transposition) -> None:
    (values,) = moved.flat_map.to_numpy()(np.arange(moved.elements))
    plain = compile(moved.digits.replace("/", "//"), "digits", "eval")
    digits = [eval(plain, {"i": i}) for i in range(moved.elements)]  # noqa: S307 - ours
    assert list(values) == digits == flat_indices(moved)


def test_drawn_transposes_move_elements_and_depend_on_the_seed_alone() -> None:
    drawn = transpositions(0, 12)
    assert drawn == transpositions(0, 24)[:12]
    assert drawn != transpositions(1, 12)
    assert all(each.order != tuple(range(len(each.order))) for each in drawn)
    assert all(c_code.LEAST_ELEMENTS <= each.elements <= c_code.MAX_ELEMENTS for each in drawn)
    powers = [each.elements & (each.elements - 1) == 0 for each in drawn]
    assert powers[::3] == [True] * 4
    assert not all(powers)


BITS = {
    "d0 * 2147483": 32,
    "d0 * 2147484": 64,
    "d0 * -2147483": 32,
    "(d0 * 2147484) floordiv 1000 + d0": 64,
    "(d0 * 3000000) mod 7000001": 64,
}


@for_all([*BITS.items()])
def test_a_formula_has_the_integers_that_its_parts_need(result: str, bits: int) -> None:
    assert bits_of(parse_map(f"(d0) -> ({result}), domain: d0 in [0, 1000]")) == bits


@needs_compiler
@pytest.mark.parametrize("moved", SMALL, ids=str)
def test_both_functions_have_the_checksum_of_numpy(moved: Transposition, tmp_path: Path) -> None:
    library = compiled(moved, tmp_path)
    expected = moved.checksum()
    assert expected == sum(i * flat for i, flat in enumerate(flat_indices(moved)))
    assert library.sum_ours(moved.elements) == library.sum_plain(moved.elements) == expected


@needs_compiler
def test_a_wrong_checksum_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transposition, "checksum", Mock(return_value=-1))
    with pytest.raises(ArithmeticError, match=r"the checksum is \d+; NumPy's is -1"):
        times_of(SMALL[0], 1)


@needs_compiler
def test_the_program_prints_a_line_a_transpose(capsys: pytest.CaptureFixture[str]) -> None:
    c_code.main(["--count", "2", "--runs", "1"])
    _, *lines, total = capsys.readouterr().out.splitlines()
    sizes = ["x".join(map(str, each.sizes)) for each in transpositions(0, 2)]
    assert [line.split()[0] for line in lines] == sizes
    assert re.match(r"total: ours [\d.]+ ms, plain [\d.]+ ms, ratio [\d.]+; worst", total)


def test_without_a_compiler_the_program_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(c_code, "COMPILER", "no-such-compiler")
    c_code.main([])
    assert capsys.readouterr().out == "skipped: there is no C compiler: no-such-compiler\n"


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    with TemporaryDirectory() as folder:
        yield Workshop(Path(folder))


@pytest.mark.needs("jax")
@for_all(KERNELS, attrgetter("name"))
def test_numpy_computes_what_jax_does(kernel: Kernel) -> None:
    assert len({(each.module, each.fusion_name) for each in KERNELS}) == 40
    (expected,) = program(standalone(kernel.computation))(*kernel.operands)
    np.testing.assert_allclose(kernel.by_numpy(), expected, rtol=1e-4, atol=1e-4)


@needs_compiler
@by_kernel
def test_c_by_hand_and_emitted_is_right(kernel: Kernel, workshop: Workshop) -> None:
    check(kernel, workshop.by_hand(kernel), "C by hand")
    check(kernel, workshop.emitted(kernel, ops.emit_kernel(kernel.fusion, "c")), "emitted C")


@needs_compiler
def test_a_text_is_compiled_and_a_wrong_result_is_seen(workshop: Workshop) -> None:
    (square,) = (kernel for kernel in KERNELS if kernel.name == "square")
    text = "void f(float *x, float *y) { for (int i = 0; i < 2048; ++i) y[i] = x[i] * x[i]; }"
    check(square, workshop.emitted(square, text), "a text")
    text = text.replace("2048", "2047")
    with pytest.raises(ArithmeticError, match=r"square: a text gives nan at \[31, 63\]; NumPy has"):
        check(square, workshop.emitted(square, text), "a text")


@needs_compiler
def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    code.main(["square", "first_rows", "--rounds", "1"])
    printed = capsys.readouterr().out
    assert "square                  cpu/mlp_adam_step wrapped_multiply.2" in printed
    assert "2 fusions: ratio" in printed
    with pytest.raises(SystemExit):
        code.main(["cube"])
    assert "there is no function cube; expected one of scale_rows" in capsys.readouterr().err


by_hand = pytest.mark.parametrize("kernel", triton_by_hand.KERNELS, ids=attrgetter("name"))


@pytest.mark.needs("jax")
@by_hand
def test_triton_by_hand_and_emitted_compute_what_jax_does(kernel: HandWritten) -> None:
    computation = kernel.fusion.computation
    operands = fusions.operands_of(computation)
    (expected,) = program(str(computation.module))(*operands)
    for text, programs in (
        (kernel.text, kernel.programs),
        (ops.emit_kernel(kernel.fusion, "triton"), None),
    ):
        found = np.zeros(expected.size, np.float32)
        run(text, "kernel", [*(each.reshape(-1) for each in operands), found], (), programs)
        np.testing.assert_allclose(found, expected.reshape(-1), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(find_spec("triton") is None, reason="pip install -e '.[benchmarks]'")
@by_hand
def test_emitted_triton_costs_what_an_expert_writes(kernel: HandWritten, tmp_path: Path) -> None:
    for capability in triton_code.COMPUTE_CAPABILITIES:
        emitted, hand = triton_code.counts_of_both(kernel, tmp_path, capability)
        assert emitted.instructions <= 1.2 * hand.instructions
        assert emitted.loads <= 1.2 * hand.loads
        assert emitted.scalar == 0

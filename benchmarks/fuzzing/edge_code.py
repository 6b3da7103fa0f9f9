"""Runs generated code near the ends of the integer types, in each language that runs here."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.fuzzing.edge_maps import EdgeMap, edge_map
from indexing import emit
from tests.indexing import mlir_stand_in
from tests.indexing.stand_in import functions_of, plain_values, tensors_of

BATCH: Final = 300
"""So many maps share a file."""
WHOLE: Final = -1

Fault: TypeAlias = tuple[int, str]
"""The place of a map in its batch, ``WHOLE`` if that is not known, and what is wrong."""


# Languages of arrays: NumPy, Triton on its stand-in, and the library's own evaluation.


def _arrays(each: EdgeMap) -> list[Any]:
    return [np.array(column, np.int64) for column in each.columns]


def _differing(found: Sequence[Any], each: EdgeMap, what: str) -> Iterator[str]:
    for position, right in enumerate(zip(*(results for _, results in each.inside), strict=True)):
        got = np.broadcast_to(np.asarray(found[position]), len(right)).tolist()
        if got != list(right):
            yield f"{what}: result {position} is {got}, not {list(right)}, at {each.columns}"


def _masked(found: Any, each: EdgeMap) -> Iterator[str]:  # noqa: ANN401 - an array, or a truth value
    right = [holds for _, holds in each.asked]
    got = np.broadcast_to(np.asarray(found), len(right)).tolist()
    if got != right:
        yield f"mask is {got}, not {right}, at {[row for row, _ in each.asked]}"


def _asked(each: EdgeMap) -> list[Any]:
    rows = [row for row, _ in each.asked]
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


def _tuple(found: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as a function returns it
    return found if isinstance(found, tuple) else (found,)  # pyright: ignore[reportUnknownVariableType] - as returned


def _in_numpy(each: EdgeMap) -> Iterator[str]:
    scope: dict[str, Any] = {}
    exec(emit(each.map, "numpy", "f"), scope)  # noqa: S102 - the text under test
    if each.inside:
        yield from _differing(_tuple(scope["f"](*_arrays(each))), each, "arrays")
    with np.errstate(all="raise"):
        for row, right in each.inside[:3]:
            got = tuple(map(int, _tuple(scope["f"](*row))))
            if got != right:
                yield f"numbers: {got}, not {right}, at {row}"
    with np.errstate(all="ignore"):
        yield from _masked(scope["f_mask"](*_asked(each)), each)


def _in_triton(each: EdgeMap) -> Iterator[str]:
    functions = functions_of(emit(each.map, "triton", "f"))
    with np.errstate(all="ignore"):
        if each.inside:
            found = plain_values(functions["f"](*tensors_of(_arrays(each))))
            yield from _differing(found, each, "tensors")
        for kind in ("int64", "int32"):
            near = each.within(kind)
            if not near.asked:
                continue
            mask = functions["f_mask"](*tensors_of([each.astype(kind) for each in _asked(near)]))
            yield from _masked(getattr(mask, "values", mask), near)


def _in_python(each: EdgeMap) -> Iterator[str]:
    with np.errstate(all="raise"):
        yield from _differing(each.map.to_numpy()(*_arrays(each)), each, "to_numpy")
        dims = _asked(each)
        yield from _masked(each.map.contains(dims), each) if _has_values(each) else ()


def _has_values(each: EdgeMap) -> bool:
    """Whether the constraints can be evaluated at all points at once: none divides by zero."""
    return "floordiv" not in str(each.map.domain) and "mod" not in str(each.map.domain)


def _in_mlir(each: EdgeMap) -> Iterator[str]:
    functions = mlir_stand_in.functions_of(emit(each.map, "mlir", "f"))
    for row, right in each.inside[:4]:
        got = tuple(functions["f"](*row))
        if got != right:
            yield f"{got}, not {right}, at {row}"
    for row, holds in each.asked[:8]:
        try:
            got = functions["f_contains"](*row)
        except ZeroDivisionError:  # outside: all parts of a mask are computed
            continue
        if got != [int(holds)]:
            yield f"contains is {got}, not {holds}, at {row}"


def _one_by_one(
    check: Callable[[EdgeMap], Iterator[str]], batch: Sequence[EdgeMap]
) -> Iterator[Fault]:
    for number, each in enumerate(batch):
        try:
            for said in check(each):
                yield number, said
        except Exception as error:  # noqa: BLE001 - of the text under test
            yield number, f"{type(error).__name__}: {error}"


# Compiled languages: a file for a batch.

_HEAD: Final = """#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
static void differ(int number, const char *what) { printf("%d %s\\n", number, what); }
"""
_SHIM: Final = """#define __host__
#define __device__
#define __forceinline__ inline
"""
_SANITIZED: Final = ("-O1", "-fsanitize=undefined,address")
_STRICT: Final = (
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused",
    "-Wno-unused-parameter",
    "-Wno-bool-compare",
    "-Wno-tautological-compare",
    "-Wno-error=overflow",
)


@dataclass(frozen=True, slots=True)
class _Compiler:
    """How a file is compiled, and what stands on top of it."""

    language: str
    command: tuple[str, ...]
    suffix: str
    head: str = _HEAD


_COMPILERS: Final = {
    "c": _Compiler("c", ("cc", *_STRICT, *_SANITIZED), "c"),
    "cuda": _Compiler("cuda", ("c++", "-w", *_SANITIZED), "cpp", _SHIM + _HEAD),
    "nvcc": _Compiler("cuda", ("nvcc", "-w"), "cu"),
}


def _literal(value: int) -> str:
    return f"({value + 1}LL - 1)" if value < 0 else f"{value}LL"


def _called_in_c(number: int, each: EdgeMap) -> str:
    """A function that compares those of one map with what is right."""
    lines = [f"static void run{number}(void) {{", "  int64_t results[8];"]
    for row, right in each.inside:
        given = "".join(f"{_literal(value)}, " for value in row)
        places = enumerate(map(_literal, right))
        wrong = " || ".join(f"results[{place}] != {value}" for place, value in places)
        differ = f'if ({wrong}) differ({number}, "at {row}");'
        lines.append(f"  f{number}({given}results); {differ}")
    for row, holds in each.asked:
        given = ", ".join(map(_literal, row))
        differ = f'differ({number}, "contains {row}");'
        lines.append(f"  if (f{number}_contains({given}) != {int(holds)}) {differ}")
    return "\n".join([*lines, "}"])


def _compiled(compiler: _Compiler, batch: Sequence[EdgeMap]) -> Iterator[Fault]:
    texts = [
        f'#line 1 "map{number}"\n{emit(each.map, compiler.language, f"f{number}")}'
        for number, each in enumerate(batch)
    ]
    calls = [_called_in_c(number, each) for number, each in enumerate(batch)]
    main = "".join(f"  run{number}();\n" for number in range(len(batch)))
    source = "\n".join([compiler.head, *texts, *calls, f"int main(void) {{\n{main}}}\n"])
    with TemporaryDirectory() as folder:
        file, program = Path(folder) / f"maps.{compiler.suffix}", Path(folder) / "maps"
        file.write_text(source)
        built = _ran([*compiler.command, "-o", str(program), str(file)])
        ran = built if built.returncode else _ran([str(program)])
    if not built.returncode:
        yield from _printed(ran.stdout)
    for number, said in re.findall(r"^map(\d+):\S* (runtime error.*)$", ran.stderr, re.MULTILINE):
        yield int(number), said
    if ran.returncode:
        yield WHOLE, ran.stderr[:2000]


def _ran(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _printed(text: str) -> Iterator[Fault]:
    """Faults as programs print them: a number, and what is wrong."""
    for line in text.splitlines():
        number, _, said = line.partition(" ")
        yield int(number), said


# JavaScript.

_SAME: Final = """
const same = (found, right) => found.length === right.length
  && found.every((value, place) => Object.is(value, right[place]));
"""


def _in_node(batch: Sequence[EdgeMap]) -> Iterator[Fault]:
    lines = [_SAME]
    for number, each in enumerate(batch):
        lines.append(emit(each.map, "javascript", f"f{number}"))
        lines.append(
            f"for (const [row, right] of {json.dumps(each.inside)})\n"
            f"  if (!same(f{number}(...row), right))\n"
            f"    console.log(`{number} ${{f{number}(...row)}}, not ${{right}}, at ${{row}}`);\n"
            f"for (const [row, holds] of {json.dumps(each.asked)})\n"
            f"  if (f{number}_contains(...row) !== holds)\n"
            f"    console.log(`{number} contains ${{row}}`);"
        )
    with TemporaryDirectory() as folder:
        source = Path(folder) / "maps.mjs"
        source.write_text("\n".join(lines))
        ran = _ran(["node", str(source)])
    yield from _printed(ran.stdout)
    if ran.returncode:
        yield WHOLE, ran.stderr[:2000]


@dataclass(frozen=True, slots=True)
class Runner:
    """What runs the code of a batch of maps."""

    needs: str
    """A program or a module."""
    run: Callable[[Sequence[EdgeMap]], Iterator[Fault]]
    bits: int = 64
    """The most that values may need, their sign included."""


RUNNERS: Final[Mapping[str, Runner]] = {
    "numpy": Runner("numpy", partial(_one_by_one, _in_numpy)),
    "triton": Runner("numpy", partial(_one_by_one, _in_triton)),
    "python": Runner("numpy", partial(_one_by_one, _in_python)),
    "mlir": Runner("jax", partial(_one_by_one, _in_mlir)),
    "c": Runner("cc", partial(_compiled, _COMPILERS["c"])),
    "cuda": Runner("c++", partial(_compiled, _COMPILERS["cuda"])),
    "nvcc": Runner("nvcc", partial(_compiled, _COMPILERS["nvcc"])),
    "javascript": Runner("node", _in_node, 54),
}
"""By language; CUDA is compiled as C++, and by ``nvcc``."""


def faults(language: str, batch: Sequence[EdgeMap]) -> list[Fault]:
    """What is wrong with the code of maps in a language."""
    return [*RUNNERS[language].run(batch)]


def drawn(language: str, seed: object, numbers: Iterable[int]) -> list[EdgeMap]:
    """Maps that a language can hold."""
    return [edge_map(f"{seed}/{number}", RUNNERS[language].bits) for number in numbers]

"""Prints the time to analyse whole modules, and its ratio to that of jaxlib's C++ parser.

    python -m benchmarks.modules [--layers 12,24] [--profile] [FILE ...]

The modules are training steps of a transformer with 12 and 24 layers by default (they need JAX),
the largest files of each folder, and all files together. The default files are those in
tests/data/hlo, which JAX dumped for four targets. The columns are seconds of processor time:

* `read`: parse the text;
* `each`: the simplified maps from every result of every instruction to its operands;
* `fusions`: the simplified maps from every result of every fused computation to its parameters;
* `all`: the sum, from which the instructions a second follow, and the ratio to the time that jaxlib
  needs to parse the text alone;
* `entry`: the maps from every result of the entry to all of its parameters.

`--profile` also prints the cumulative seconds of the functions of this project for all files, under
a profiler.

Each line runs in its own process, so that no cache is shared. `MB` is the peak memory of the
process (`ru_maxrss`), including the library.
"""

from __future__ import annotations

import argparse
import cProfile
import multiprocessing
import resource
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Final, TypeVar

from benchmarks.clock import timed
from benchmarks.read_hlo import seconds, text_of, xla_reader
from benchmarks.transformer import train_step
from ops import Unknown, hlo, output_to_input, parameter_indexing
from ops.dependence.dependence import Indexings

Argument = TypeVar("Argument")
Result = TypeVar("Result")

ROOT: Final = Path(__file__).parents[1]
DATA: Final = ROOT / "tests" / "data" / "hlo"
TARGETS: Final = ("unoptimized", "cpu", "gpu", "tpu")
LARGEST: Final = 2
"""The number of modules of each folder that have their own line."""

PROFILE_ROWS: Final = 60
"""The number of functions in a profile."""

WARM_UP: Final = "ENTRY e { p = f32[8] parameter(0) ROOT r = f32[4,2] reshape(p) }"
"""A module that is analysed before the measurement, so that late imports do not count."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each module, and one for all files."""
    parser = argparse.ArgumentParser(description="the time to analyse whole modules")
    parser.add_argument(
        "--layers",
        type=numbers,
        default=(12, 24),
        help="of the transformers, separated by commas: 12,24",
    )
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="HLO text, maybe .gz")
    given = parser.parse_args(arguments)
    print(HEAD)
    texts: list[str] = []
    for name, texts in groups(given.layers, given.files or default_files()):
        print(in_new_process(measured, texts).line(name), flush=True)
    if given.profile:
        print(in_new_process(profile, texts))


def numbers(text: str) -> tuple[int, ...]:
    """Numbers separated by commas; may be empty."""
    return tuple(map(int, filter(None, text.split(","))))


def default_files() -> list[Path]:
    """The modules in tests/data/hlo."""
    return [path for target in TARGETS for path in sorted((DATA / target).glob("*.hlo.gz"))]


def groups(layers: Iterable[int], files: Sequence[Path]) -> Iterator[tuple[str, list[str]]]:
    """Names, and the texts that are analysed one after the other."""
    if find_spec("jax"):
        for count in layers:
            yield f"transformer of {count} layers", [in_new_process(train_step, count)]
    else:
        print("no transformer: JAX is missing; pip install 'jax>=0.10'")
    folders: dict[Path, list[tuple[Path, str]]] = defaultdict(list)
    for path in files:
        folders[path.parent].append((path, text_of(path)))
    for folder, found in folders.items():
        for path, text in sorted(found, key=lambda each: -len(each[1]))[:LARGEST]:
            yield f"{folder.name}/{path.name.removesuffix('.gz').removesuffix('.hlo')}", [text]
    yield f"all {len(files)} files", [text for found in folders.values() for _, text in found]


def in_new_process(call: Callable[[Argument], Result], argument: Argument) -> Result:
    """The result of a call in a new process, with empty caches."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawning) as executor:
        return executor.submit(call, argument).result()


# Measurements.


def every_instruction(module: hlo.HloModule) -> None:
    """Ask for the maps from every result of every instruction."""
    for instruction in module.instructions:
        for output in range(len(instruction.shape.arrays)):
            simplify(output_to_input(instruction, output).indexing)


def every_fusion(module: hlo.HloModule) -> None:
    """Ask for the maps from every result of every fused computation."""
    for instruction in module.instructions:
        if instruction.opcode == "fusion":
            to_parameters(instruction.attributes["calls"])


def entry(module: hlo.HloModule) -> None:
    """Ask for the maps from every result of the program."""
    to_parameters(module.entry)


def to_parameters(computation: hlo.Computation) -> None:
    """Ask for the maps from every result to all parameters."""
    for output in range(len(computation.root.shape.arrays)):
        simplify(parameter_indexing(computation.root, output).values())


def simplify(answers: Iterable[Indexings]) -> None:
    """Simplify all maps of the answers."""
    for answer in filter(None, answers):
        for way in () if isinstance(answer, Unknown) else answer:
            way.simplify()


STAGES: Final[Mapping[str, Callable[[hlo.HloModule], None]]] = {
    "each": every_instruction,
    "fusions": every_fusion,
    "entry": entry,
}
"""A stage of the analysis of a parsed module."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The cost of analysing some modules; times are in seconds."""

    instructions: int
    spent: Mapping[str, float]
    megabytes: float
    xla: float
    """The time that jaxlib needs to read the texts; not a number without it."""

    def line(self, name: str) -> str:
        """A row of the table."""
        total = sum(self.spent[stage] for stage in ("read", "each", "fusions"))
        speed, ratio = self.instructions / total, total / self.xla
        columns = [self.spent["read"], self.spent["each"], self.spent["fusions"], total]
        times = "".join(f"{time:8.2f}" for time in columns)
        return (
            f"{name:36}{self.instructions:7}{times}{speed:9.0f}{ratio:7.0f}"
            f"{self.spent['entry']:8.2f}{self.megabytes:6.0f}"
        )


HEAD: Final = (
    f"{'module':36}{'instr.':>7}{'read':>8}{'each':>8}{'fusions':>8}{'all':>8}{'instr./s':>9}"
    f"{'ratio':>7}{'entry':>8}{'MB':>6}"
)


def measured(texts: Sequence[str]) -> Measurement:
    """Analyse the modules one after the other, and measure it."""
    analysed(WARM_UP, defaultdict(float))
    spent: dict[str, float] = defaultdict(float)
    instructions = sum(analysed(text, spent) for text in texts)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    read = xla_reader()
    xla = sum(seconds(read, text) for text in texts) if read else float("nan")
    return Measurement(instructions, spent, megabytes, xla)


def analysed(text: str, spent: dict[str, float]) -> int:
    """The number of instructions of a module; adds the time of each stage."""
    module, seconds_read = timed(lambda: hlo.parse(text))
    spent["read"] += seconds_read
    for stage, action in STAGES.items():
        spent[stage] += timed(lambda action=action: action(module))[1]
    return sum(1 for _ in module.instructions)


# Profile.


def profile(texts: Sequence[str]) -> str:
    """The most expensive functions of the project, with their cumulative time."""
    analysed(WARM_UP, defaultdict(float))
    profiler = cProfile.Profile()
    profiler.runcall(lambda: [analysed(text, defaultdict(float)) for text in texts])
    rows = sorted(own_functions(profiler), reverse=True)[:PROFILE_ROWS]
    return "\n".join([f"\n{'seconds':>7} {'calls':>8}  function", *(row for _, row in rows)])


def own_functions(profiler: cProfile.Profile) -> Iterator[tuple[float, str]]:
    """The seconds of each function, and a line of the profile for it."""
    for entry in profiler.getstats():
        code = entry.code
        if isinstance(code, CodeType) and code.co_filename.startswith(str(ROOT)):
            path = Path(code.co_filename).relative_to(ROOT)
            line = f"{entry.totaltime:7.2f} {entry.callcount:8}  {path}: {code.co_qualname}"
            yield entry.totaltime, line


if __name__ == "__main__":
    main()

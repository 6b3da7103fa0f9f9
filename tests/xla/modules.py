"""What XLA's tests ask of instructions, fusions and modules: their maps, in both directions.

The questions in :data:`OF_MODULES` are asked of modules of StableHLO, too: those name instructions
by their locations, and take the results of an operation with several into a tuple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final
from warnings import catch_warnings

from indexing import IndexingMap
from ops import (
    Fusion,
    FusionError,
    FusionSchedule,
    OperandIndexing,
    Unknown,
    fusion_indexing,
    hlo,
    input_to_output,
    output_to_input,
    schedule_of,
)
from ops.dependence.dependence import Indexings
from ops.hlo import HloModule, Instruction
from ops.xla_gpu.emitters import results_of
from tests.conformance import Row, rows_of
from tests.hlo.module_structure import Structures
from tests.xla.facts import Answer, Outcome, Verdict, ends, most_serious, of_values, verdict_on_map

REWORDED: Final = {
    r"\b([su]1)\b(?!\[)": r"x\1",
    r"\[17,22\] constant\(1\)": "[17,22] constant({...})",
}
"""What XLA's reader refuses in some rows: a type as a name, a literal of another rank."""


def hlo_of(row: Row) -> str:
    """The text that a row is about: its own, or that of the row in ``of``."""
    return (
        row["hlo"]
        if "hlo" in row
        else rows_of(row["xla"].partition(".")[0], id=row["of"])[0]["hlo"]
    )


def module_of(row: Row) -> HloModule:
    text = hlo_of(row)
    for refused, accepted in REWORDED.items():
        text = re.sub(refused, accepted, text)
    return hlo.parse(text)


def answer_to(row: Row, module: HloModule) -> Indexings:
    """What the library says to the row's question; the answers for several results in one."""
    root = _operation_of(module.entry.root)
    physical: bool = row["physical_layout"]
    operand: int = row["operand"] or 0
    if row["direction"] == "output_to_input":
        answers = output_to_input(root, row.get("output", 0), physical_layout=physical).indexing
        return answers[operand] if answers else ()
    return _united(input_to_output(root, operand, physical_layout=physical).indexing)


def _operation_of(root: Instruction) -> Instruction:
    """The root, or the operation with several results whose tuple it is."""
    if root.opcode != "tuple" or not root.operands:
        return root
    made = [each.operands[0] for each in root.operands if each.opcode == "get-tuple-element"]
    is_whole = len(made) == len(root.operands) == len(made[0].shape.elements)
    return made[0] if is_whole and len(set(made)) == 1 else root


def _united(answers: Sequence[Indexings]) -> Indexings:
    unknown = [answer for answer in answers if isinstance(answer, Unknown)]
    known = [answer for answer in answers if not isinstance(answer, Unknown)]
    return unknown[0] if unknown else tuple(chain.from_iterable(known))


def of_indexings(answer: Indexings, row: Row) -> Outcome:
    """Our maps, and where runtime values come from, beside XLA's."""
    xla = "\n".join([*row["expected"], *_origins_text(row, "rt_vars_xla")])
    if isinstance(answer, Unknown):
        return Outcome(Verdict.WRONG, f"unknown: {answer.reason}", xla)
    maps = [way.map for way in answer]
    origins = (_verdict_on_origins(way, row) for way in answer)
    ours = "\n".join([*map(str, maps), *_origins_text(row, "rt_vars_correct")])
    return Outcome(most_serious([verdict_on_maps(maps, row), *origins]), ours, xla)


def verdict_on_maps(found: Sequence[IndexingMap], row: Row) -> Verdict:
    """How our set of maps is to XLA's: each of ours goes with one of XLA's."""
    if "right" in row:
        right = sorted(map(str, found)) == sorted(row["right"])
        return Verdict.BETTER if right else Verdict.WRONG
    waiting, worst = [*row["expected"]], Verdict.SAME
    for made in found:
        verdicts = [verdict_on_map(made, text) for text in waiting]
        best = min(verdicts, key=[*Verdict].index, default=Verdict.WRONG)
        if best is Verdict.WRONG:
            return best
        del waiting[verdicts.index(best)]
        worst = most_serious([worst, best])
    return Verdict.WRONG if waiting else worst


def _verdict_on_origins(way: OperandIndexing, row: Row) -> Verdict:
    """Whether the values of runtime variables come from where the row says."""
    told: list[str | list[str]] = row.get("rt_vars_correct") or row.get("rt_vars") or []
    if len(told) != len(way.runtime):
        return Verdict.SAME if "right" in row or not told else Verdict.WRONG
    for origin, expected in zip(way.runtime, told, strict=True):
        name, *place = [expected] if isinstance(expected, str) else expected
        is_there = place in ([], [str(origin.map)])
        if not is_there or _name_in_test(origin.instruction) != name.rpartition("/")[2]:
            return Verdict.WRONG
    return Verdict.BETTER if "rt_vars_xla" in row else Verdict.SAME


def _name_in_test(instruction: Instruction) -> str:
    """The name in XLA's test: StableHLO keeps it as that of the location."""
    return str(instruction.attributes.get("metadata", {}).get("op_name") or instruction.name)


def _origins_text(row: Row, field: str) -> Iterator[str]:
    yield from (f"rt{number}: {name}" for number, name in enumerate(row.get(field, ())))


def _named(module: HloModule, name: str) -> Instruction:
    """The instruction of a name, in the entry if there are several and no computation is named."""
    computation, _, own = name.rpartition("/")
    wanted = computation or module.entry.name
    found = (each for each in module.instructions if _name_in_test(each) == own)
    return min(found, key=lambda each: each.computation.name != wanted)


OF_MODULES: Final[dict[str, Callable[[Row, HloModule], Outcome]]] = {
    # What the users of a hero make of its result.
    "epilogue": lambda row, module: of_indexings(
        Fusion.of_computation((hero := _named(module, row["hero"])).computation).epilogue(hero),
        row),
    "maps inside": lambda row, module: of_indexings(
        fusion_indexing(_named(module, row["from"])).get(_named(module, row["to"]), ()), row),
    "maps of an instruction": lambda row, module: of_indexings(answer_to(row, module), row),
}  # fmt: skip
"""Questions about a row's module."""


# Emitters: that a fusion has maps, and what the threads do for it.


def reasons_without_maps(row: Row) -> list[str]:
    root = module_of(row).entry.root
    maps = [*(output_to_input(root, number) for number in root.shape.array_indices)]
    maps += [input_to_output(root, number) for number in range(len(root.operands))]
    answers = chain.from_iterable(each.indexing for each in maps)
    return list(dict.fromkeys(each.reason for each in answers if isinstance(each, Unknown)))


def starts(row: Row) -> object:
    """The intervals to which starts are clamped, by the maps to the elements that hold them."""
    asked = {**row, "direction": "output_to_input", "physical_layout": False}
    found = answer_to(asked, module_of(row))
    if isinstance(found, Unknown):
        return found.reason
    (way,) = found
    places = [str(origin.map).partition(", domain")[0] for origin in way.runtime]
    return dict(zip(places, (ends(each.bounds) for each in way.map.runtime), strict=True))


def is_read_once(schedule: FusionSchedule, row: Row) -> bool:
    """Whether threads read each element of an operand of a hero once: ``reduce:0``."""
    name, _, operand = row["operand"].rpartition(":")
    if name not in {hero.name for hero in schedule.heroes if hero}:
        (access,) = schedule.reads(int(operand))
        return access.is_exactly_once()
    read = schedule.schedule.reads[int(operand)]
    return read is not None and read.is_exactly_once()


def is_written_once(schedule: FusionSchedule, row: Row) -> bool:
    results = results_of(schedule.fusion.roots[0])
    owners = [hero or result for hero, result in zip(schedule.heroes, results, strict=True)]
    return schedule.writes_exactly_once([owner.name for owner in owners].index(row["hero"]))


def _of_schedule(answer: Callable[[FusionSchedule, Row], object]) -> Answer:
    """The answer for the schedule of the entry's root; one without schedule says why."""

    def found(row: Row) -> object:
        try:
            return answer(schedule_of(module_of(row).entry.root), row)
        except FusionError as error:
            return str(error)

    return found


def read_or_refused(row: Row) -> Outcome:
    """Whether a text is read, and as what: printed, it says what XLA's printed text says."""
    try:
        with catch_warnings(action="ignore"):
            texts = str(hlo.parse(row["text"])), row.get("reprinted", row["text"])
            modules = [*map(hlo.parse, texts)]
    except hlo.HloTextError as error:
        place = f" at {error.span.line}:{error.span.column}" if _places(row) else ""
        return of_values(f"refused{place}", {**row, "expected": _expected(row)})
    structures = Structures(ignored=frozenset(row.get("forgotten", ())))
    read, printed = map(structures.of, modules)
    answer = "read" if read == printed else "read as something else"
    return of_values(answer, {**row, "expected": _expected(row)})


def _expected(row: Row) -> str:
    if row["accepted"]:
        return "read"
    return " at ".join(["refused", *_places(row)[:1]])


def _places(row: Row) -> list[str]:
    """Where XLA's message points, if the test says it."""
    return re.findall(r"was parsing (\d+:\d+):", row.get("error", ""))


QUESTIONS: Final[dict[str, Answer]] = {
    **{kind: lambda row, ask=ask: ask(row, module_of(row)) for kind, ask in OF_MODULES.items()},
    "no maps": reasons_without_maps,
    "read once": _of_schedule(is_read_once),
    "starts": starts,
    # Of a block, and the blocks.
    "threads": _of_schedule(lambda schedule, _: [
        schedule.schedule.launch.threads[0], schedule.schedule.launch.blocks[0]]),
    "written once": _of_schedule(is_written_once),
    "hlo_text": read_or_refused,
    # With brackets many levels deep, in pieces.
    "nested hlo_text": lambda row: read_or_refused({**row, "text": "".join([
        row["opening"] * row["depth"], row["middle"], row["closing"] * row["depth"]])}),
}  # fmt: skip

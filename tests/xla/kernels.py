"""What XLA's tests of its emitters ask: that a fusion has maps, and what the threads do for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final

from ops import FusionError, FusionSchedule, Unknown, input_to_output, output_to_input, schedule_of
from ops.xla_gpu.emitters import results_of
from tests.conformance import Row
from tests.xla.modules import answer_to, module_of
from tests.xla.outcome import Answer, ends


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


# Schedules.


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


QUESTIONS: Final[dict[str, Answer]] = {
    "no maps": reasons_without_maps,
    "read once": _of_schedule(is_read_once),
    "starts": starts,
    # Of a block, and the blocks.
    "threads": _of_schedule(
        lambda schedule, _: [
            schedule.schedule.launch.threads[0],
            schedule.schedule.launch.blocks[0],
        ]
    ),
    "written once": _of_schedule(is_written_once),
}

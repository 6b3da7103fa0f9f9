"""Questions that the tests of batches ask: other processes find them by name."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from ops import InstructionIndexing, ModuleAnalysis, analyze
from tests.ops.unshared import all_answers


def root_name(analysis: ModuleAnalysis) -> str:
    return analysis.module.entry.root.name


def root_map(analysis: ModuleAnalysis) -> str:
    """An answer that takes the analysis of an instruction."""
    root = analysis.module.entry.root
    return str(analysis[root].output_to_input().indexing[0])


class StubbornError(Exception):
    """An error that can be pickled, but not read back."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def refuses_some(analysis: ModuleAnalysis) -> str:
    """Raises for the modules that say so."""
    name = root_name(analysis)
    if name.startswith("raise"):
        raise ValueError(name)
    if name.startswith("stubborn"):
        raise StubbornError("no", "way")
    if name.startswith("die"):
        os._exit(1)
    return name


def answers_without_pickle(analysis: ModuleAnalysis) -> object:
    return lambda: root_name(analysis)


def leaves_a_mark(analysis: ModuleAnalysis) -> str:
    """Notes beside the file that it was asked about, and takes its time."""
    Path(f"{analysis.module.file}.seen").touch()
    time.sleep(0.05)
    return root_name(analysis)


def is_known_by_its_answers(
    analysis: ModuleAnalysis, answers: Sequence[InstructionIndexing]
) -> bool:
    """Whether answers that came here are those that are found here, by an analysis and without."""
    afresh = analyze(analysis.module)
    return all(
        [answer for each in again for answer in all_answers(each)] == [*answers]
        for again in (analysis, afresh)
    )

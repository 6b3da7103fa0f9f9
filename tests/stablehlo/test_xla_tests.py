"""The modules of XLA's indexing tests, as StableHLO: the same answers as for their HLO.

``tests/data/stablehlo/xla_tests.jsonl`` has the texts that XLA writes for the modules of
``tests/data/xla`` and ``tests/data/conformance/op.jsonl``, by the first fact about each; JAX 0.10.2
wrote them, as :mod:`~tests.stablehlo.stablehlo_modules` says. Names of instructions are those of
locations.
"""

from __future__ import annotations

import json
from functools import cache

from ops import stablehlo
from ops.hlo import HloModule
from tests.cases import for_all
from tests.stablehlo.stablehlo_modules import FOLDER
from tests.xla.facts import Fact, facts
from tests.xla.modules import OF_MODULES, hlo_of

_NAMES = "XLA does not write the names of a fusion's parameters and computation"
LOST = {
    "indexing_analysis_test/grouped_middle.broadcast": _NAMES,
    "indexing_analysis_test/grouped_middle.parameter": _NAMES,
    "op/fusion_dynamic_slice_of_dynamic_slice.o2i.0": _NAMES,
    "op/nested_fusion_dot_dynamic_slice.o2i.1": _NAMES,
    "op/get_tuple_element.o2i": "XLA writes the element as the parameter that it is",
}
"""Questions that the StableHLO of a module does not ask any more, and why."""

UNKNOWN = "scaled_dot"
"""XLA writes ``mhlo.unknown`` for it."""


@cache
def texts() -> dict[str, str]:
    lines = (FOLDER / "xla_tests.jsonl").read_text("utf-8").splitlines()
    stored = {line["of"]: line["text"] for line in map(json.loads, lines)}
    return {fact.row["hlo"]: stored[fact.name] for fact in facts() if fact.name in stored}


@cache
def module_of_text(text: str) -> HloModule:
    """The module of a text, read once for all that is asked of it."""
    return stablehlo.parse(text)


ASKED = [fact for fact in facts() if fact.kind in OF_MODULES]
ANSWERED = [fact for fact in ASKED if fact.name not in LOST and UNKNOWN not in fact.name]


@for_all(ANSWERED, lambda fact: fact.name)
def test_the_answers_are_those_for_hlo(fact: Fact) -> None:
    module = module_of_text(texts()[hlo_of(fact.row)])
    answer = OF_MODULES[fact.kind](fact.row, module)
    assert answer.verdict is fact.verdict, f"XLA: {answer.xla}\nwe: {answer.ours}"


def test_what_xla_does_not_write_is_unknown_by_name() -> None:
    for each in {hlo_of(fact.row) for fact in ASKED if UNKNOWN in fact.name}:
        assert 'custom_call_target="mhlo.unknown"' in str(module_of_text(texts()[each]))


def test_nearly_all_are_asked() -> None:
    """83 of 86 modules, 180 of 189 questions, and 78 of 79 tests."""
    suite = "indexing_analysis_test"
    tests = {fact.test for fact in ANSWERED if fact.suite == suite}
    assert len(tests) == len({fact.test for fact in facts() if fact.suite == suite}) - 1 == 78
    assert (len(texts()), len({hlo_of(fact.row) for fact in ANSWERED})) == (86, 83)
    assert (len(ASKED), len(ANSWERED)) == (189, 180)

"""What changed between two modules: edits that are known are found, and nothing else."""

from __future__ import annotations

import pytest

from ops import ChangeKind, ModuleDifference, diff, hlo, summary
from ops.modules.difference import MAX_TEXT
from ops.performance.tally import sum_of_counts
from tests.cases import by_name, for_all
from tests.cli.small_modules import LOOKED_UP, ROW_SHARES, SOFTMAX_SUM
from tests.hlo.modules import NAMES, module_text


def said(found: ModuleDifference) -> str:
    """What happened to which instructions, as a row says it."""
    ends = ((each.kind.value, [each.before, each.after]) for each in found)
    words = ([kind, *(each.name for each in pair if each)] for kind, pair in ends)
    return "; ".join(map(" ".join, words)) or "nothing"


@pytest.mark.parametrize("name", NAMES[::9])
def test_a_module_is_as_it_was(name: str) -> None:
    text = module_text(name)
    found = diff(hlo.parse(text), hlo.parse(text))
    assert said(found) == "nothing"
    rows = summary(hlo.parse(text))
    total = sum_of_counts(each.bytes_read for each in rows)
    assert [each.read for each in found.traffic] == [total, total]


EDITS = by_name("""
renamed => ROW_SHARES => totals => sums => renamed totals sums
another opcode => ROW_SHARES => divide( => multiply( => changed share share
operands in another order => ROW_SHARES => divide(x, totals) => divide(totals, x)
    changed share share
another dimension => SQUARE => broadcast(total), dimensions={0} => broadcast(total), dimensions={1}
    changed totals totals
in what is called => LOOKED_UP => add(%a, %a) => negate(%a) => changed sum sum
the value of a constant => ROW_SHARES => constant(0) => constant(1) => changed zero zero
what a reduction computes => ROW_SHARES => add(a, b) => maximum(a, b) => changed total total
another attribute => SOFTMAX_SUM => kind=kLoop => kind=kInput => changed total total
a constant inside a fusion => SOFTMAX_SUM => constant(0) => constant(1) => changed total total
only names inside a fusion => SOFTMAX_SUM => %exp => %exp.7 => nothing
only the place in the source => SOFTMAX_SUM => kind=kLoop => metadata={op_name="sum"}, kind=kLoop
    nothing
one more => ROW_SHARES => ROOT share = f32[4,8] divide(x, totals)
    more = f32[4,8] negate(x) ROOT share = f32[4,8] divide(x, totals) => added more
""")
"""A module, what is replaced in it by what, and what happened then to which instructions."""

MODULES = {
    "ROW_SHARES": ROW_SHARES,
    "SQUARE": ROW_SHARES.replace("[4,8]", "[8,8]").replace("[4]", "[8]"),
    "LOOKED_UP": LOOKED_UP,
    "SOFTMAX_SUM": SOFTMAX_SUM,
}


@for_all(EDITS)
def test_edits(name: str, old: str, new: str, expected: str) -> None:
    """There and back."""
    text = MODULES[name]
    assert old in text
    before, after = hlo.parse(text), hlo.parse(text.replace(old, new))
    assert said(diff(before, after)) == expected
    kind, *changed = expected.split()
    opposite = {"added": "removed", "removed": "added"}.get(kind, kind)
    assert said(diff(after, before)) == " ".join([opposite, *reversed(changed)])


def test_equal_instructions_are_matched_by_name_first() -> None:
    """Two that do the same do not change places."""
    text = "ENTRY e {{ x = f32[4] parameter(0) {} ROOT r = (f32[4], f32[4]) tuple(a, b) }}"
    one, other = "a = f32[4] negate(x)", "b = f32[4] negate(x)"
    before, after = (hlo.parse(text.format(each)) for each in (f"{one} {other}", f"{other} {one}"))
    assert said(diff(before, after)) == "nothing"


def test_what_is_different_is_said() -> None:
    text = "ENTRY e { x = f32[4,4] parameter(0) ROOT r = f32[4,4] transpose(x), dimensions={1,0} }"
    (change,) = diff(hlo.parse(text), hlo.parse(text.replace("{1,0}", "{0,1}")))
    assert change.kind is ChangeKind.CHANGED
    attribute, maps = change.differences
    assert attribute == ("dimensions", ("{1,0}",), ("{0,1}",))
    domain = "domain: d0 in [0, 3], d1 in [0, 3]"
    was, now = (f"(d0, d1) -> ({to}), {domain}" for to in ("d1, d0", "d0, d1"))
    assert maps == ("maps of operand 0", (was,), (now,))


def test_instructions_inside_are_said_by_what_they_compute() -> None:
    after = ROW_SHARES.replace("add(a, b)", "maximum(a, b)")
    (change,) = diff(hlo.parse(ROW_SHARES), hlo.parse(after))
    assert str(change).splitlines()[1:] == [
        "    instructions inside:",
        "      - add f32[] (parameter 0, parameter 1)",
        "      + maximum f32[] (parameter 0, parameter 1)",
    ]


def test_of_long_values_the_part_that_differs_is_said() -> None:
    text = "ENTRY e {{ ROOT c = s32[999] constant({{{}}}) }}"
    numbers = [*range(999)]
    before = hlo.parse(text.format(", ".join(map(str, numbers))))
    after = hlo.parse(text.format(", ".join(map(str, [*numbers[:500], 7, *numbers[501:]]))))
    ((what, (was,), (now,)),) = next(iter(diff(before, after))).differences
    assert what == "value"
    assert was.startswith("...496, 497, 498, 499, 500, ")
    assert now.startswith("...496, 497, 498, 499, 7, ")
    assert len(was) == len(now) == MAX_TEXT + 6

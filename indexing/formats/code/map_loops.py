"""Maps as loop nests: loops over their ranges, around lines of the caller's own.

A constraint becomes the ends of a loop where it can; else it is asked where all that it is about is
known, outside of the loops that do not change it. A loop is split where that spares divisions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from indexing.formats.code.coder import DIVISIONS, alone, helpers_in, is_narrow, names_in
from indexing.formats.code.language import NARROW, WIDE
from indexing.formats.code.loop_bounds import digits_of, divisors_of, solving
from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from indexing.formats.code.map_functions import (
    check_name,
    check_portable,
    comparisons,
    for_comment,
    function,
    joined,
    passable,
    with_numeric_bounds,
    within_bounds,
)
from indexing.transform.evaluate import reason_against_bits
from indexing.variable import Variable
from simplifier import Interval
from simplifier.choices import guarded
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, postorder, variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from indexing.domain import Constraint, Domain
    from indexing.formats.code.language import Language
    from indexing.relation import Relation

MASK: Final = "mask"
"""What arrays of points call whether each of them is inside."""


@dataclass(frozen=True, slots=True)
class Body:
    """The caller's part of a function: lines in the loops, parameters, and a line after them."""

    lines: str
    parameters: str = ""
    last: str = ""

    @property
    def names(self) -> set[str]:
        """All words, which no line of ours may give another meaning."""
        return set(re.findall(r"[^\W\d]\w*", f"{self.lines} {self.parameters} {self.last}"))


def text_of_loops(
    maps: Sequence[Relation], language: Language, names: Sequence[str], body: Body, asker: str
) -> str:
    """The text of one function: loops over the ranges of maps around a body."""
    for name in names:
        check_name(name, asker, language.reserved)
    domains = [with_numeric_bounds(each.domain) for each in maps]
    for each, domain in zip(maps, domains, strict=True):
        constraints = (form for form, _ in domain.constraints)
        check_portable([*each.forms, *constraints], domain, asker, language.max_bits)
    domain, wanted = joined(maps, domains)
    looped = _looped(domains, asker)
    pairs = zip(domain.identifiers, domain.names, strict=True)
    behind = [variable(identifier) + 1 for identifier, name in pairs if name in looped]
    check_portable(behind, domain, asker, language.max_bits)
    results = {
        result: guarded(form)
        for name, forms in zip(names, wanted, strict=True)
        for result, form in zip(_result_names(name, len(forms)), forms, strict=True)
    }
    _check_results(results, domain, asker)
    nest = _Nest(domain, looped, language, body.names | {*results, MASK})
    nest.write(results, body)
    head = [language.comment.format(for_comment(each)) for each in maps]
    lines = nest.function(f"{'_'.join(names)}_loops", body)
    helpers = [[helper] for helper in helpers_in(lines, language.helpers)]
    top = [*language.head, *language.blank] if language.head else []
    blocks = [line for block in (*helpers, lines) for line in (*block, *language.blank)]
    return "\n".join([*head, "", *top, *blocks[: -len(language.blank)]]) + "\n"


def _looped(domains: Sequence[Domain], asker: str) -> list[str]:
    """The names of the ranges, which no map may have in another role."""
    ranges = {name: None for domain in domains for name in domain.by_role(domain.names)[1]}
    for domain in domains:
        own = domain.by_role(domain.names)[1]
        for name in domain.names:
            if name in ranges and name not in own:
                raise MapError(
                    f"{asker}: {name} is a range of one map and none of another; "
                    "expected names of one role"
                )
    return [*ranges]


def _result_names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{number}" for number in range(count)]


def _check_results(results: dict[str, Form], domain: Domain, asker: str) -> None:
    for name in (*domain.names, MASK):
        if name in results:
            raise MapError(f"{asker}: {name} is a result and also {_meaning(name)}")


def _meaning(name: str) -> str:
    return "what says which points are inside" if name == MASK else "a variable"


@dataclass
class _Nest:
    """Loops over some variables of a domain; the others are parameters of the function."""

    domain: Domain
    looped: Sequence[str]
    language: Language
    taken: set[str]
    known: dict[str, Form] = field(default_factory=dict[str, Form])
    """What each identifier of the domain is in the blocks."""
    opened: list[_Nested] = field(default_factory=list["_Nested"])
    masks: list[_Mask] = field(default_factory=list["_Mask"])

    def __post_init__(self) -> None:
        names = names_in(self.domain, self.language.reserved)
        named: dict[bool, list[tuple[str, Variable]]] = {True: [], False: []}
        rows = zip(self.domain.identifiers, self.domain.names, names, self.domain, strict=True)
        for identifier, own, name, given in rows:
            named[own in self.looped].append((identifier, Variable(given.bounds, name)))
        outer, self.inner = named[False], named[True]
        self.parameters = tuple(given for _, given in outer)
        taken = (self.taken - {*names}) | {given.name for given in self.parameters}
        self.top = LoopBlock(LocalNames(self.language, taken), self.parameters)
        self.known = {each: variable(f"d{place}") for place, (each, _) in enumerate(outer)}
        texts = self.domain.constraint_texts()
        self.asked = [(guarded(form), interval) for _, (form, interval) in texts]
        self.is_of_arrays = not self.language.condition

    def write(self, results: dict[str, Form], body: Body) -> None:
        """Writes the loops into the block on top."""
        left = dict(results)
        if self.is_of_arrays:
            self._narrow_parameters()
        block = self._within(self.top)
        for identifier, counter in self.inner:
            self._write_results(block, left, _is_total)
            block = self._within(self._loop(block, identifier, counter, results.values()))
        if self.is_of_arrays:
            self._end_masks(block)
        self._write_results(block, left, lambda _: True)
        block.lines += body.lines.splitlines()
        for each in reversed(self.opened):
            each.close()

    def function(self, name: str, body: Body) -> list[str]:
        """The lines of the function."""
        language = self.language
        given = [
            language.parameter.format(type=self._type_of(each.bounds), name=each.name)
            for each in self.parameters
        ]
        given += [body.parameters] if body.parameters else []
        lines = [*self.top.lines, *body.last.splitlines()]
        return function(name, "void", given, lines, language)

    # Constraints.

    def _within(self, block: LoopBlock) -> LoopBlock:
        """The block where all constraints hold of which everything is known in a block."""
        facts = self._taken(block, [row for row in self.asked if self._knows(row[0])])
        if self.is_of_arrays:
            self._mask(block, self._questions(block, facts))
            return block
        if not facts:
            return block
        inner = block.guarded(facts)
        self.opened.append(_Nested(block, inner, " && ".join(self._questions(block, facts))))
        return inner

    def _taken(self, block: LoopBlock, rows: Sequence[Constraint]) -> list[Constraint]:
        """Constraints as they are in a block, without those that hold; they are asked no more."""
        self.asked = [row for row in self.asked if row not in rows]
        placed = [(block.simplified(self._placed(form)), interval) for form, interval in rows]
        return [row for row in placed if not block.holds(row)]

    def _knows(self, form: Form) -> bool:
        return self.known.keys() >= {*variables_of((form,))}

    def _placed(self, form: Form) -> Form:
        return operations.substitute((form,), self.known)[0]

    def _questions(self, block: LoopBlock, facts: Sequence[Constraint]) -> list[str]:
        texts, bits = block.texts_and_bits([form for form, _ in facts])
        asked = map(passable, map(block.left_to_ask, facts), bits)
        return [*comparisons(zip(texts, asked, strict=True), self.language)]

    def _narrow_parameters(self) -> None:
        """Asks parameters of any type for their bounds, and gives them the type for these."""
        bounds = ((each.name, each.bounds) for each in self.parameters)
        self._mask(self.top, [*within_bounds(bounds, self.language)])
        for each in self.parameters:
            value = self.language.cast.format(each.name, type=self._type_of(each.bounds))
            self.top.lines.append(self.language.statement.format(name=each.name, value=value))

    def _mask(self, block: LoopBlock, asked: Sequence[str]) -> None:
        if asked:
            name = block.names.fresh("is_inside")
            text = self.language.both.join(asked)
            self.masks.append(_Mask(name, text, block, len(block.lines)))
            block.lines.append(f"{name} = {text}")

    def _end_masks(self, block: LoopBlock) -> None:
        """Gives the last mask the name that the body knows."""
        if not self.masks:
            block.lines.append(f"{MASK} = {self.language.true}")
            return
        *others, last = self.masks
        text = self.language.both.join([*(each.name for each in others), last.text])
        last.block.lines[last.place] = f"{MASK} = {text}"

    # Loops.

    def _loop(
        self, block: LoopBlock, identifier: str, counter: Variable, results: Iterable[Form]
    ) -> LoopBlock:
        """The block in a loop over a variable, or in one loop for each of its digits."""
        facts = self._solved(block, identifier)
        bounds, name = counter.bounds, counter.name
        size = 0 if bounds.lower else bounds.size or 0
        sizes = digits_of(divisors_of(results, identifier, size), size)
        if facts or self.is_of_arrays or not sizes[1:]:
            inner, self.known[identifier] = block.loop(bounds, name, facts)
            self.opened.append(_Nested(block, inner))
            return inner
        block.names.taken.add(name)
        total = Form(0, {})
        for size, stride in sizes:
            inner, digit = block.loop(Interval(0, size - 1), f"{name}_by_{stride}")
            total += digit * stride
            self.opened.append(_Nested(block, inner))
            block = inner
        self.known[identifier] = total
        self._assign(block, name, total)
        return block

    def _solved(self, block: LoopBlock, identifier: str) -> list[Constraint]:
        """The constraints that a loop over a variable meets by where it goes; asked no more."""
        place = len(block.variables)
        own = range(len(self.parameters) if self.is_of_arrays else 0, place + 1)
        may_be = {f"d{number}" for number in own}
        known = {**self.known, identifier: variable(f"d{place}")}
        rows = {
            operations.substitute((form,), known)[0]: (form, interval)
            for form, interval in self.asked
            if known.keys() >= {*variables_of((form,))} and self._may_end_loops(form, interval)
        }
        placed = [
            (form, row[1]) for form, row in rows.items() if may_be >= {*variables_of((form,))}
        ]
        facts = solving(f"d{place}", placed)
        met = [rows[form] for form, _ in facts]
        self.asked = [row for row in self.asked if row not in met]
        return facts

    def _may_end_loops(self, form: Form, interval: Interval) -> bool:
        """Whether what is computed for the ends of a loop, and its next value, fit the language."""
        atom, ends = form.only_atom, interval.ends
        if atom is not None and atom.kind is AtomKind.MOD:
            form, ends = atom.numerator, (atom.divisor,)
        sides = [form + sign * end for end in ends if isinstance(end, int) for sign in (1, -1)]
        return reason_against_bits(sides, self.domain, self.language.max_bits) is None

    def _write_results(
        self, block: LoopBlock, left: dict[str, Form], may_be: Callable[[Form], bool]
    ) -> None:
        """Writes the results that are known in a block, and takes them from those that are left."""
        for name, form in [*left.items()]:
            if self._knows(form) and may_be(form):
                self._assign(block, name, block.simplified(self._placed(left.pop(name))))

    def _assign(self, block: LoopBlock, name: str, form: Form) -> None:
        (text,), (bits,) = block.texts_and_bits([form])
        kind = self.language.integer.get(bits, "")
        line = self.language.statement.format(type=kind, name=name, value=alone(text))
        block.lines.append(line)

    def _type_of(self, bounds: Interval) -> str:
        return self.language.integer.get(NARROW if is_narrow(bounds) else WIDE, "")


def _is_total(form: Form) -> bool:
    """Whether a form has a value wherever its variables have one: it divides by no variable."""
    return all(atom.divisor for atom in postorder((form,)) if atom.kind in DIVISIONS)


@dataclass(frozen=True, slots=True)
class _Nested:
    """A block in a loop, or under a condition."""

    outer: LoopBlock
    inner: LoopBlock
    condition: str = ""

    def close(self) -> None:
        """Adds the lines of the inner block to the outer one."""
        if self.condition:
            self.outer.close_guard(self.inner, self.condition)
        else:
            self.outer.close_loop(self.inner)


@dataclass(frozen=True, slots=True)
class _Mask:
    """A line that asks which of many points are inside."""

    name: str
    text: str
    block: LoopBlock
    place: int

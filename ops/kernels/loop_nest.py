"""A loop nest in C while it is written: blocks in blocks, each with what is known in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from indexing.domain import Domain
from indexing.formats.code.coder import Coder, Ranges, is_narrow, is_usable
from indexing.formats.code.language import LANGUAGES
from indexing.simplify import scope_with_facts
from indexing.variable import Variable
from simplifier.expr.form import Form, variable, variables_of
from simplifier.fixpoint import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexing.domain import Constraint
    from simplifier import Interval

_LANGUAGE: Final = LANGUAGES["c"]


class LocalNames:
    """The names of one function, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def fresh(self, wish: str) -> str:
        """The wished name, made one of C, with a number where it is taken."""
        base = "".join(letter if letter.isalnum() else "_" for letter in wish)
        base = base if is_usable(base, _LANGUAGE.reserved) else f"v_{base}"
        name, number = base, 1
        while name in self.taken or not is_usable(name, _LANGUAGE.reserved):
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


@dataclass(eq=False)
class LoopBlock:
    """Lines in one loop or condition, the variables of all loops around them, and known facts."""

    names: LocalNames
    variables: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    parent: LoopBlock | None = None
    is_guarded: bool = False
    """Whether a condition is around the block, so that nothing may move out of it."""
    lines: list[str] = field(default_factory=list[str])
    values: dict[object, str] = field(default_factory=dict[object, str])
    """The names of what is computed in the block."""

    def __post_init__(self) -> None:
        self.domain = Domain.of(self.variables).constrained(self.constraints)
        self._ranges = Ranges(self.domain)

    def loop(self, bounds: Interval, wish: str) -> tuple[LoopBlock, Form]:
        """A block inside a loop, and the variable of the loop."""
        counter = Variable(bounds, self.names.fresh(wish))
        inner = LoopBlock(self.names, (*self.variables, counter), self.constraints, self)
        return inner, variable(f"d{len(self.variables)}")

    def guarded(self, constraints: Iterable[Constraint]) -> LoopBlock:
        """A block inside a condition."""
        facts = (*self.constraints, *constraints)
        return LoopBlock(self.names, self.variables, facts, self, is_guarded=True)

    def simplified(self, form: Form) -> Form:
        """The form as short as what is known here allows."""
        if self.domain.is_known_empty:
            return form
        return simplified(scope_with_facts(self.domain), form)

    def holds(self, constraint: Constraint) -> bool:
        """Whether a constraint is met everywhere in the block."""
        form, interval = constraint
        return interval.contains(self._ranges.of(form))

    def left_to_ask(self, constraint: Constraint) -> Interval:
        """The interval of a constraint, without an end that is met everywhere in the block."""
        return self._ranges.left_to_ask(constraint)

    def home_of(self, index: Sequence[Form]) -> LoopBlock:
        """The outermost block where an index is known: what it reads does not change inside."""
        used, block = frozenset(variables_of(index)), self
        while block.parent is not None and not block.is_guarded:
            known = {f"d{position}" for position in range(len(block.parent.variables))}
            if not known.issuperset(used):
                break
            block = block.parent
        return block

    def find(self, key: object) -> str | None:
        """The name of what is computed in this block or around it."""
        block: LoopBlock | None = self
        while block is not None:
            if key in block.values:
                return block.values[key]
            block = block.parent
        return None

    def texts(self, wanted: Sequence[Form]) -> tuple[str, ...]:
        """The texts of forms, after the lines that they need."""
        coder = Coder(self.domain, _LANGUAGE, taken=self.names.taken)
        found = coder.write_all(wanted)
        self.lines += coder.lines
        self.names.taken |= coder.given
        return found

    def type_of(self, bounds: Interval) -> str:
        """The type of a loop's variable; the end of the loop has to fit, too."""
        return _LANGUAGE.integer[32 if is_narrow(bounds) and is_narrow(bounds + 1) else 64]

    def close_loop(self, inner: LoopBlock) -> None:
        """Adds the loop over a block's last variable, with the lines of the block in it."""
        counter = inner.variables[-1]
        name, bounds = counter.name, counter.bounds
        first, stop = bounds.lower or 0, (bounds.upper or 0) + 1
        head = f"for ({self.type_of(bounds)} {name} = {first}; {name} < {stop}; ++{name}) {{"
        self.lines.append(head)
        self._close(inner)

    def close_guard(self, inner: LoopBlock, condition: str) -> None:
        """Adds a condition with the lines of a block in it."""
        self.lines.append(f"if ({condition}) {{")
        self._close(inner)

    def _close(self, inner: LoopBlock) -> None:
        self.lines += [*(f"  {line}" for line in inner.lines), "}"]

"""Symbolic tiles: the elements of one tensor that belong to a tile of another.

A tile of the dimensions has the values ``t * T + k`` with ``0 <= k < T`` of each, where ``t`` is
the id of the tile and ``T`` its size. The elements that a map touches from there are, for each
result, ``offset + stride * i`` at the positions ``i`` that meet the mask.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from indexing.domain import Domain
from indexing.errors import TileError
from indexing.exact.exact_relation import ExactRelation
from indexing.formats.text import format_map
from indexing.tile.axes import bounds_of_ids
from indexing.tile.tile_constraints import TileConstraints
from indexing.transform.evaluate import checked_value
from indexing.variable import Variable
from simplifier import Interval
from simplifier.bounds.facts import facts_of
from simplifier.errors import check_type, listed
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.expr.printer import format_form
from simplifier.expr.sympy_writing import to_condition, to_sympy
from simplifier.fixpoint import range_of, simplified
from simplifier.tools.display import Displayed, cut, html, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import sympy
    from sympy.logic.boolalg import Boolean

    from indexing.exact.sets import IndexSet
    from indexing.tile.axes import Assumptions
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form

Row: TypeAlias = "tuple[Form, Form, Form]"
"""The offset, the size and the stride of one result."""


class Formulas(NamedTuple):
    """The tiles of all results, and the condition on the positions that are touched."""

    results: tuple[Row, ...]
    condition: Form

    def substituted(self, values: Mapping[str, Form]) -> Formulas:
        """The formulas with values for some symbols."""
        rows = tuple(operations.substitute(row, values) for row in self.results)
        (condition,) = operations.substitute((self.condition,), values)
        return Formulas(tuple((row[0], row[1], row[2]) for row in rows), condition)

    def simplified(self, known: Assumptions) -> Formulas:
        """The formulas in their smallest form."""
        scope = known.scope()
        rows = tuple(
            (simplified(scope, offset), simplified(scope, size), _simplified_choice(scope, stride))
            for offset, size, stride in self.results
        )
        positions = {
            f"i{number}": Interval(0, upper - 1 if (upper := range_of(scope, size).upper) else None)
            for number, (_, size, _) in enumerate(rows)
        }
        inner = known.bounded(positions).scope()
        atom = self.condition.only_atom
        parts = atom.arguments if atom and atom.kind is AtomKind.AND else (self.condition,)
        kept = [simplified(inner, part) for part in parts]
        return Formulas(rows, operations.conjunction(kept))


def _simplified_choice(scope: Scope, form: Form) -> Form:
    """Nested choices with each condition simplified by itself: there may be one for each digit."""
    choices: list[tuple[Form, Form]] = []
    while (atom := form.only_atom) is not None and atom.kind is AtomKind.SELECT:
        condition, chosen, form = atom.arguments
        choices.append((simplified(scope, condition), chosen))
    form = simplified(scope, form)
    for condition, chosen in reversed(choices):
        form = operations.select(condition, chosen, form)
    return form


@dataclass(frozen=True, slots=True, repr=False)
class Tile(Displayed):
    """The elements that a map touches from one tile of its dimensions, as formulas.

    Result ``r`` is ``offsets[r] + strides[r] * i_r`` for the positions ``0 <= i_r < sizes[r]`` that
    meet the mask. Formulas are over the tile ids ``t0, t1, ...``, the symbols of the sizes, runtime
    variables and parameters. They hold for all sizes that meet the constraints.

    >>> from indexing import parse_map
    >>> from simplifier import symbol
    >>> rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
    >>> print(rows.tile([symbol("T")]))
    offsets: (T * t0) floordiv 6, (T * t0) mod 6
    sizes: (T + 5) floordiv 6, min(T, 6)
    strides: 1, 1
    mask: (T * t0 + i0 * 6 + i1 < 48)
    constraints: 6 mod T in [0, 0] || T mod 6 in [0, 0]
    """

    domain: Domain
    """That of the map."""
    counts: tuple[Form, ...]
    """The size of the tile along each dimension."""
    tiles: tuple[Form | None, ...]
    """How many tiles there are along each dimension; ``None`` if there is no end."""
    known: Assumptions
    formulas: Formulas
    constraints: TileConstraints
    """When the formulas hold."""
    image: ExactRelation | None = None
    """The map from a tile with the ids ``t0, t1, ...``, where no mask tells elements of the box."""

    @property
    def offsets(self) -> tuple[sympy.Expr, ...]:
        """The index of each result at position 0."""
        return tuple(to_sympy(self._named(offset)) for offset, _, _ in self.formulas.results)

    @property
    def sizes(self) -> tuple[sympy.Expr, ...]:
        """The positions of each result, the same for all tiles."""
        return tuple(to_sympy(self._named(size)) for _, size, _ in self.formulas.results)

    @property
    def strides(self) -> tuple[sympy.Expr, ...]:
        """By how much the index grows from one position to the next."""
        return tuple(to_sympy(self._named(stride)) for _, _, stride in self.formulas.results)

    @property
    def mask(self) -> Boolean | None:
        """The condition on the positions ``i0, i1, ...`` that are touched; ``None`` if all are.

        Raises:
            TileError: no condition tells them; :meth:`elements` does.
        """
        if self.image is not None:
            raise TileError("mask: no condition tells the elements of the box; see elements(ids)")
        return (
            None
            if self.formulas.condition == forms.ONE
            else to_condition(self._named(self.formulas.condition))
        )

    @property
    def grid(self) -> tuple[sympy.Expr | None, ...]:
        """How many tiles there are along each dimension; ``None`` for one without end."""
        counts = self.tiles
        return tuple(None if count is None else to_sympy(self._named(count)) for count in counts)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in the sizes, sorted."""
        return tuple(sorted(set(forms.variables_of(self.counts)), key=forms.natural_order))

    def substitute(self, sizes: Mapping[str, int]) -> Tile:
        """The tile with numbers for all symbols of the sizes.

        Raises:
            TileError: a symbol has no number, or the sizes do not meet the constraints; the message
                says which.

        >>> from indexing import parse_map
        >>> from simplifier import symbol
        >>> rows = parse_map("(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]")
        >>> tile = rows.tile([symbol("T")])
        >>> print(tile.substitute({"T": 12}))
        offsets: t0 * 2, 0
        sizes: 2, 6
        strides: 1, 1
        >>> tile.substitute({"T": 8})
        Traceback (most recent call last):
        indexing.errors.TileError: tile: 6 mod T is 6, and T mod 6 is 2; expected 6 mod T in [0, 0]
        || T mod 6 in [0, 0]
        """
        missing = [name for name in self.symbols if name not in sizes]
        if missing:
            raise TileError(f"substitute: there is no size {listed(missing)}; expected one")
        numbers = {name: checked_value(sizes[name], f"substitute: {name}") for name in self.symbols}
        reason = self.constraints.reason(numbers)
        if reason is not None:
            raise TileError(f"tile: {reason}")
        values = {name: forms.constant(value) for name, value in numbers.items()}
        tiles = tuple(each and operations.substitute((each,), values)[0] for each in self.tiles)
        known = self.known.substituted(values).bounded(bounds_of_ids(tiles))
        return Tile(
            self.domain,
            operations.substitute(self.counts, values),
            tiles,
            known,
            self.formulas.substituted(values).simplified(known),
            TileConstraints(),
        )

    def elements(self, ids: Sequence[int], runtime: Sequence[int] = ()) -> IndexSet:
        """The elements that the map touches from the tile with these ids.

        Raises:
            TileError: the sizes are symbols, or there is no such tile.

        >>> from indexing import parse_map
        >>> halves = parse_map("(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]")
        >>> print(halves.tile([4]).elements([2]))
        (d0): d0 in [4, 4]
        """
        self._check_ids(ids)
        names = [f"t{number}" for number in range(len(ids))]
        values = dict(zip(names, map(forms.constant, ids), strict=True))
        runs = self.domain.runtime
        if len(runtime) != len(runs):
            raise TileError(f"elements: {len(runtime)} runtime values; expected {len(runs)}")
        values |= {f"rt{number}": forms.constant(value) for number, value in enumerate(runtime)}
        if self.image is not None:
            fixed = enumerate((*runtime, *ids))
            limits = [(forms.variable(f"rt{place}"), Interval.of(value)) for place, value in fixed]
            domain = self.image.domain.constrained(limits)
            return ExactRelation.from_forms(self.image.forms, domain).image()
        values |= {
            f"i{number}": forms.variable(f"s{number}")
            for number in range(len(self.formulas.results))
        }
        positions = [
            operations.product((stride, forms.variable(f"i{number}"))) + offset
            for number, (offset, _, stride) in enumerate(self.formulas.results)
        ]
        *results, condition = operations.substitute((*positions, self.formulas.condition), values)
        ranges = [Variable(Interval(0, size.constant - 1)) for _, size, _ in self.formulas.results]
        domain = Domain.of((), ranges).constrained(facts_of(condition))
        return ExactRelation.from_forms(results, domain).image()

    def _check_ids(self, ids: Sequence[int]) -> None:
        check_type(ids, Sized, "elements: ids", "one integer for each dimension")
        names = (*self.symbols, *(each.name for each in self.domain.parameters))
        if names:
            raise TileError(
                f"elements: the sizes have the symbols {listed(names)}; expected numbers"
            )
        if len(ids) != len(self.tiles):
            expected = f"expected {len(self.tiles)}, one for each dimension"
            raise TileError(f"elements: {len(ids)} ids are given; {expected}")
        for number, (id_, count) in enumerate(zip(ids, self.tiles, strict=True)):
            if id_ < 0 or (count is not None and id_ >= count.constant):
                last = "0 or more" if count is None else f"0 to {count.constant - 1}"
                raise TileError(f"elements: ids[{number}] is {id_}; expected {last}")

    def _named(self, form: Form) -> Form:
        """The form with the names of parameters and runtime variables."""
        domain = self.domain
        pairs = zip(domain.identifiers, domain.names, strict=True)
        renamed = {
            known: forms.variable(name)
            for known, name in pairs
            if known != name and known[0] in "r~"
        }
        return operations.substitute((form,), renamed)[0]

    def __str__(self) -> str:
        columns = zip(*self._texts(), strict=True) if self.formulas.results else ((), (), ())
        lines = [
            f"{title}: {', '.join(column)}".rstrip()
            for title, column in zip(("offsets", "sizes", "strides"), columns, strict=True)
        ]
        return "\n".join([*lines, *self._conditions()])

    def _repr_html_(self) -> str:
        rows = [(str(number), *texts) for number, texts in enumerate(self._texts())]
        conditions = "".join(f"<p>{cut(text)}</p>" for text in self._conditions())
        return html(table(("result", "offset", "size", "stride"), rows) + conditions)

    def _texts(self) -> list[tuple[str, ...]]:
        """Offset, size and stride of each result."""
        return [
            tuple(format_form(self._named(form)) for form in each) for each in self.formulas.results
        ]

    def _conditions(self) -> Iterator[str]:
        """The mask and the constraints, where there are some."""
        if self.image is not None:
            yield f"elements: those of {format_map(self.image)}"
        if self.formulas.condition != forms.ONE:
            yield f"mask: {format_form(self._named(self.formulas.condition))}"
        if not self.constraints.is_always_satisfied:
            yield f"constraints: {self.constraints}"

"""Maps as code: one text for any number of maps, in each language of a table.

``emit`` is the door; its writers serve the methods of a map, too. ``language`` has the table,
``coder`` writes formulas, ``functions`` what is around them.
"""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial, reduce
from typing import Final

from indexing.code.coder import Ranges, alone, helpers_in, is_narrow, names_in
from indexing.code.functions import (
    Body,
    LocalNames,
    LoopBlock,
    asked_in,
    check_name,
    checked_maps,
    comparisons,
    digits_of,
    divisors_of,
    for_comment,
    joined,
    passable,
    solving,
    text_of_loops,
    text_of_maps,
)
from indexing.code.language import LANGUAGES, Language, guarded_helpers
from indexing.domain import Domain, bounding
from indexing.errors import MapError
from indexing.formats.mlir import with_positive_divisors
from indexing.map import CODE_WRITERS
from indexing.relation import Relation, check_map
from simplifier import forms
from simplifier.errors import check_type, listed, quoted
from simplifier.forms import Atom, AtomKind, Form


def emit(
    maps: Relation | Iterable[Relation], language: str, names: Sequence[str] | str | None = None
) -> str:
    """One text with a function for the results of maps, and one for the domain of each.

    The maps share one function, so that what they have in common is computed once. Variables of one
    name are one parameter; the function is for the points that lie in all domains. Values have 32
    bits where nothing on the way to them needs more.

    Args:
        maps: a map, or several.
        language: ``"c"``, ``"cuda"``, ``"triton"``, ``"numpy"``, ``"javascript"`` or ``"mlir"``.
        names: a name for each map; the function is called after all of them, that of a domain
            ``NAME_contains`` or, in Python, ``NAME_mask``.

    Raises:
        MapError: an unknown language, a variable that is not bounded, a value that may need more
            bits than the language has, or a name that it cannot use.

    >>> from indexing import emit, parse_map
    >>> rows = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
    >>> tiles = parse_map("(d0) -> (d0 floordiv 8 * 100), domain: d0 in [0, 31]")
    >>> print(emit([rows, tiles], "javascript", ["row", "tile"]))
    // (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    // (d0) -> ((d0 floordiv 8) * 100), domain: d0 in [0, 31]
    <BLANKLINE>
    function row_tile(d0) {
      const d0_div_8 = d0 >> 3;
      return [[d0_div_8, d0 & 7], [d0_div_8 * 100]];
    }
    <BLANKLINE>
    function row_contains(d0) {
      return d0 >= 0 && d0 < 32;
    }
    <BLANKLINE>
    function tile_contains(d0) {
      return d0 >= 0 && d0 < 32;
    }
    <BLANKLINE>
    """
    given = _maps(maps, "emit")
    named = _names(names, len(given), "emit")
    _check_language(language, CODE_WRITERS, "emit")
    return CODE_WRITERS[language](given, named, "emit")


def emit_loops(
    maps: Relation | Iterable[Relation],
    language: str,
    body: str,
    names: Sequence[str] | str | None = None,
    *,
    parameters: str = "",
    last: str = "",
) -> str:
    """One function with loops over the ranges of maps around your own lines.

    The lines use each result by the name of its map; if a map has several, by ``NAME0``, ``NAME1``,
    and so on. Loops go where the constraints hold: these become the ends of a loop and its step
    where they can. Others are asked outside of the loops that do not change them. A loop is split
    where that spares divisions. Ranges of one name are one loop.

    NumPy and Triton work on many points at once: there, loops have the same ends for all of them,
    and ``mask`` says which of them are inside.

    Args:
        maps: a map, or several.
        language: ``"c"``, ``"cuda"``, ``"triton"``, ``"numpy"`` or ``"javascript"``.
        body: lines for each point, in the language.
        names: a name for each map; the function is called after all of them, with ``_loops``.
        parameters: of the function, after the dimensions and runtime variables, in the language.
        last: a line behind the loops.

    Raises:
        MapError: as of :func:`emit`, or names that mean two things.

    >>> from indexing import emit_loops, parse_map
    >>> window = parse_map(
    ...     "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], "
    ...     "d0 * 2 + s0 in [1, 16]")
    >>> print(emit_loops(window, "javascript", "visit(place);", "place", parameters="visit"))
    // (d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 * 2 + s0 in [1, 16]
    <BLANKLINE>
    function place_loops(d0, visit) {
      for (let s0 = Math.max(d0 * -2 + 1, 0); s0 < 3; ++s0) {
        const place = d0 * 2 + s0 - 1;
        visit(place);
      }
    }
    <BLANKLINE>
    """
    given = _maps(maps, "emit_loops")
    named = _names(names, len(given), "emit_loops")
    _check_language(language, LANGUAGES, "emit_loops")
    for what, text in (("body", body), ("parameters", parameters), ("last", last)):
        check_type(text, str, f"emit_loops: {what}", "a string")
    own = Body(body, parameters, last)
    return text_of_loops(given, LANGUAGES[language], named, own, "emit_loops")


def _maps(maps: Relation | Iterable[Relation], asker: str) -> list[Relation]:
    if isinstance(maps, Relation):
        return [maps]
    check_type(maps, Iterable, f"{asker}: maps", "a map or several")
    given = list(maps)
    for position, each in enumerate(given):
        check_map(each, f"{asker}: maps[{position}]")
    if not given:
        raise MapError(f"{asker}: maps is empty; expected a map at least")
    return given


def _names(names: Sequence[str] | str | None, count: int, asker: str) -> list[str]:
    if names is None:
        return ["indexing_map"] if count == 1 else [f"map{number}" for number in range(count)]
    check_type(names, Iterable, f"{asker}: names", "a name for each map")
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        check_type(name, str, f"{asker}: a name", "a string")
    if len(given) != count:
        raise MapError(f"{asker}: got {len(given)} names; expected {count}, one for each map")
    if len(set(given)) < count:
        raise MapError(f"{asker}: names are {listed(given)}; expected different names")
    return given


def _check_language(language: str, known: Collection[str], asker: str) -> None:
    check_type(language, str, f"{asker}: language", "its name")
    if language not in known:
        raise MapError(f"{asker}: language is {quoted(language)}; expected {listed(known)}")


# Maps as functions of MLIR: `affine.apply` where a sum is affine, `arith` where it is not.
#
# All values are of type `index`. A sum is one `affine.apply` with the quotients and remainders by
# constants in it; what several sums share is an operation of its own.

_AFFINE: Final = (AtomKind.FLOORDIV, AtomKind.MOD, AtomKind.CEILDIV, AtomKind.SUM)
"""Operations of ``affine_map``, where divisors are positive constants."""

_OPERATIONS: Final = {
    AtomKind.PRODUCT: "muli",
    AtomKind.MIN: "minsi",
    AtomKind.MAX: "maxsi",
    AtomKind.AND: "minsi",
    AtomKind.QUOTIENT: "floordivsi",
    AtomKind.FLOORDIV: "floordivsi",
    AtomKind.CEILDIV: "ceildivsi",
    AtomKind.BITAND: "andi",
    AtomKind.BITOR: "ori",
    AtomKind.BITXOR: "xori",
}
_COMPARED: Final = {AtomKind.NONNEGATIVE: "sge", AtomKind.ZERO: "eq"}


def mlir_text_of_maps(maps: Sequence[Relation], names: Sequence[str], asker: str) -> str:
    """One text with a function for the results of maps, and one for the domain of each."""
    checked = checked_maps(maps, names, asker)
    functions = [_results(checked, "_".join(names)), *map(_contains, checked, names)]
    comments = [f"// {for_comment(each)}" for each in maps]
    body = [line for lines in functions for line in ("", *lines)]
    return "\n".join([*comments, *body]) + "\n"


def _results(maps: Sequence[Relation], name: str) -> list[str]:
    domain, wanted = joined(maps)
    results = [forms.guarded(form) for each in wanted for form in each]
    block = _Block(domain, results)
    values = [block.value(form) for form in results]
    types = ", ".join(["index"] * len(values))
    last = f"return {', '.join(values)} : {types}" if values else "return"
    return _function(name, block, f"({types})", last)


def _contains(of: Relation, name: str) -> list[str]:
    domain = of.domain
    box = domain.with_constraints()
    constraints = (constraint for _, constraint in domain.constraint_texts())
    rows = [*bounding(domain.bounds), *asked_in(box, constraints)]
    is_never = any(interval.is_empty for _, interval in rows)
    rows = [] if is_never else rows
    asked_of = [forms.guarded(form) for form, _ in rows]
    block = _Block(box, asked_of)
    checks: list[str] = []
    for form, (_, asked) in zip(asked_of, rows, strict=True):
        interval = passable(asked)
        ends = (("sge", interval.lower), ("slt", interval.upper))
        for relation, end in (("eq", interval.lower),) if interval.is_point else ends:
            if end is not None:
                bound = block.constant(end + (relation == "slt"))
                checks.append(block.operation(f"cmpi {relation}", (block.value(form), bound)))
    if not checks:
        checks.append(block.operation(f"constant {'false' if is_never else 'true'}", (), ""))
    whole = reduce(lambda left, right: block.operation("andi", (left, right), "i1"), checks)
    return _function(f"{name}_contains", block, "i1", f"return {whole} : i1")


def _function(name: str, block: _Block, kind: str, last: str) -> list[str]:
    parameters = ", ".join(f"{parameter}: index" for parameter in block.parameters)
    head = f"func.func private @{name}({parameters}) -> {kind} {{"
    return [head, *(f"  {line}" for line in (*block.lines, last)), "}"]


class _Block:
    """Operations in order, and the value of each atom and form that was asked for."""

    def __init__(self, domain: Domain, wanted: Sequence[Form]) -> None:
        names = [f"%{name}" for name in names_in(domain, frozenset())]
        self.parameters = names
        self.lines: list[str] = []
        self._ranges = Ranges(domain)
        self._parameter = dict(zip(domain.identifiers, names, strict=True))
        self._values: dict[Form, str] = {}
        atoms = forms.postorder(wanted)
        arguments = {form for atom in atoms for form in atom.arguments} | set(wanted)
        self._uses = Counter(atom for form in arguments for atom in form.terms)

    def value(self, form: Form) -> str:
        """The name of the value of a form."""
        for atom in forms.postorder((form,)):
            whole = Form(0, {atom: 1})
            if whole not in self._values and self._is_leaf(atom):
                self._values[whole] = self._atom(atom)
        if form not in self._values:
            self._values[form] = self._sum(form)
        return self._values[form]

    def constant(self, value: int) -> str:
        """The name of a constant."""
        return self.value(Form(value, {}))

    def operation(self, name: str, operands: Sequence[str], kind: str = "index") -> str:
        """The name of the value that an operation of ``arith`` gives."""
        text = name if name.startswith("constant") else f"{name}{',' * name.startswith('cmpi')}"
        between = " " if operands else ""
        suffix = f" : {kind}" if kind else ""
        return self._line(f"arith.{text}{between}{', '.join(operands)}{suffix}")

    def _line(self, text: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def _is_leaf(self, atom: Atom) -> bool:
        """Whether an atom has a value of its own, outside of the sums that it is in."""
        is_affine = atom.kind in _AFFINE and (atom.kind is AtomKind.SUM or atom.divisor)
        return not is_affine or self._uses[atom] > 1

    def _sum(self, form: Form) -> str:
        if form.is_constant:
            return self._line(f"arith.constant {form.constant} : index")
        leaves = self._leaves(form)
        names = [f"a{position}" for position in range(len(leaves))]
        inner = {atom: forms.variable(name) for atom, name in zip(leaves, names, strict=True)}
        replaced = forms.replace(form, inner)
        text = forms.format_form(with_positive_divisors(replaced), names)
        values = ", ".join(self._values[Form(0, {atom: 1})] for atom in leaves)
        return self._line(f"affine.apply affine_map<({', '.join(names)}) -> ({text})>({values})")

    def _leaves(self, form: Form) -> list[Atom]:
        """The atoms with values of their own that a sum is made of."""
        found: dict[Atom, None] = {}
        left = list(form.terms)
        while left:
            atom = left.pop()
            whole = Form(0, {atom: 1})
            if whole in self._values and whole != form:
                found[atom] = None
            else:
                left += [inner for argument in atom.arguments for inner in argument.terms]
        return sorted(found)

    def _atom(self, atom: Atom) -> str:
        if atom.kind is AtomKind.VARIABLE:
            return self._parameter[atom.name]
        if atom.kind in _AFFINE and (atom.divisor or atom.kind is AtomKind.SUM):
            return self._sum(Form(0, {atom: 1}))
        operands = [self.value(argument) for argument in forms.as_written(atom, atom.arguments)]
        return self._computed(atom, operands)

    def _computed(self, atom: Atom, operands: Sequence[str]) -> str:
        if atom.kind in _COMPARED:
            held = self._compared(_COMPARED[atom.kind], *operands)
            return self.operation("select", (held, self.constant(1), self.constant(0)))
        if atom.kind is AtomKind.SELECT:
            condition, *branches = operands
            return self.operation("select", (self._compared("ne", condition), *branches))
        if atom.kind is AtomKind.MOD:
            return self._remainder(atom, *operands)
        name = _OPERATIONS[atom.kind]
        return reduce(lambda left, right: self.operation(name, (left, right)), operands)

    def _compared(self, relation: str, value: str) -> str:
        return self.operation(f"cmpi {relation}", (value, self.constant(0)))

    def _remainder(self, atom: Atom, numerator: str, divisor: str) -> str:
        if self._ranges.natural_numerator(atom) is atom.numerator:
            return self.operation("remsi", (numerator, divisor))
        quotient = self.operation("floordivsi", (numerator, divisor))
        whole = self.operation("muli", (quotient, divisor))
        return self.operation("subi", (numerator, whole))


CODE_WRITERS.update({name: partial(text_of_maps, each) for name, each in LANGUAGES.items()})
CODE_WRITERS["mlir"] = mlir_text_of_maps

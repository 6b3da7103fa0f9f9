"""PyTorch: its index expressions, simplified by what Inductor and a ``ShapeEnv`` know of them.

Nothing of PyTorch is imported before a function of this module is called.

Torch's divisions differ where a dividend is negative: ``FloorDiv`` rounds down, and ``PythonMod``
is its remainder, but ``ModularIndexing`` and ``Mod`` become the remainder of C. So they are written
where the dividend is at least 0, else ``PythonMod``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final, TypeAlias

import sympy

from simplifier import simplification
from simplifier.errors import IndexingError
from simplifier.expr.functions import BitAnd, BitOr, BitXor, CeilDiv, FloorDiv, Max, Min, Mod
from simplifier.expr.sympy import READERS, ConversionError
from simplifier.problem import NOTHING, Bounds, Constraints, EndsLike, Expression, Facts
from simplifier.tools.graphs import connected_components

__all__ = [
    "MissingTorchError",
    "Native",
    "facts_of",
    "installed",
    "simplify",
    "simplify_with_ranges",
    "to_torch",
]

Native: TypeAlias = Any
"""A value of PyTorch, which need not be installed; mostly an expression of its functions."""


class MissingTorchError(IndexingError, ImportError):
    """PyTorch is needed, and not installed."""

    def __init__(self) -> None:
        super().__init__("PyTorch is not installed; expected it, as after pip install torch")


def simplify(
    expression: Expression, bounds: Bounds | Facts = NOTHING, constraints: Constraints = ()
) -> Native:
    """The cheapest expression found, in torch's functions and multiplied out.

    Arguments and errors are those of :func:`simplifier.simplify`. What ``Identity`` holds is
    simplified by itself, and ``Identity`` stays around it.

    Raises:
        MissingTorchError: PyTorch is not installed.

    >>> from simplifier import symbol
    >>> from torch.utils._sympy.functions import FloorDiv, ModularIndexing  # doctest: +SKIP
    >>> x = symbol("x")
    >>> simplify(ModularIndexing(x, 8, 16) + 16 * FloorDiv(x, 128), {x: (0, 999)})  # doctest: +SKIP
    (x//8)
    """
    facts, given = Facts.joined(bounds, constraints), _number(expression)
    kept = _kept([given], lambda node: _name(node) == "Identity", facts)
    held = {kept[node]: node.func(*(simplify(part, facts) for part in node.args)) for node in kept}
    return _TorchWriter(facts, held).written(_simplest(_read(given, kept), facts))


def to_torch(
    expression: Expression, bounds: Bounds | Facts = NOTHING, constraints: Constraints = ()
) -> Native:
    """The expression in torch's functions; nothing else is changed.

    Raises:
        MissingTorchError: PyTorch is not installed.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x, n = symbol("x"), symbol("n")
    >>> to_torch(Mod(FloorDiv(x, n), 8) + Mod(x - 9, 8), {x: (0, 99), n: (1, 9)})  # doctest: +SKIP
    (ModularIndexing(x, n, 8)) + (PythonMod(x - 9, 8))
    """
    return _TorchWriter(Facts.joined(bounds, constraints)).written(_number(expression))


def facts_of(environment: Native, ranges: Mapping[sympy.Symbol, Native] | None = None) -> Facts:
    """What a ``ShapeEnv`` knows, and that variables are at least 0 and less than their ranges.

    Known are the ranges of sizes, guards, and assertions at run time. Of all that, conditions that
    are not about integers are left out.
    """
    known = _known(_ranges_in(environment), environment.get_axioms())
    sizes = ((index, _number(size)) for index, size in (ranges or {}).items())
    return known & Facts(_below(sizes)) if ranges else known


def simplify_with_ranges(
    allocator: Native, expression: Expression, ranges: Mapping[sympy.Symbol, Native]
) -> Native:
    """What ``SizeVarAllocator.simplify_with_ranges`` of Inductor is asked.

    Where nothing that an index runs through is divided, the expression is multiplied out. What
    depends on sizes alone stays as it is, because Inductor compares it with the sizes of buffers.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.
    """
    replacements, environment = allocator.replacements, allocator.shape_env
    given: Native = _number(expression).xreplace(replacements)
    if _is_settled(given, ranges):
        return _multiplied_out(given)
    sizes = {index: _number(size).xreplace(replacements) for index, size in ranges.items()}
    known = _ranges_in(environment), environment.get_axioms()
    if not isinstance(given, sympy.Expr):  # a condition
        return _asked(given, sizes, *known)
    terms = sympy.Add.make_args(_multiplied_out(given))
    found = [
        sympy.Add(*group)
        if all(_is_settled(term, ranges) for term in group)
        else _sum_asked(group, sizes, *known)
        for group in connected_components(terms, lambda term: term.free_symbols & ranges.keys())
    ]
    return sympy.Add(*found)


@contextmanager
def installed() -> Generator[None]:
    """Inside, Inductor asks :func:`simplify_with_ranges`; itself, what that refuses.

    What is compiled inside is kept by torch's caches as anything else: to compare, switch them off
    (``torch._inductor.config.force_disable_caches``).

    Raises:
        MissingTorchError: PyTorch is not installed.

    >>> import torch  # doctest: +SKIP
    >>> with installed():  # doctest: +SKIP
    ...     torch.compile(model)(x)
    """
    allocator = _torch("_inductor.sizevars").SizeVarAllocator
    own = allocator._simplify_with_ranges  # noqa: SLF001 - the one that remembers nothing

    def replacing(self: Native, expression: Native, ranges: Native) -> Native:
        try:
            return simplify_with_ranges(self, expression, ranges)
        except IndexingError:
            return own(self, expression, ranges)

    allocator._simplify_with_ranges = replacing  # noqa: SLF001 - as above
    try:
        yield
    finally:
        allocator._simplify_with_ranges = own  # noqa: SLF001 - as above


# What is asked, and what is known.
#
# Inductor asks the same of `q0 ...`, `p0 ...`, `x0 ...` in turn. Their places are asked instead,
# and remembered.

_REMEMBERED: Final = 1 << 12
"""Answers take some kilobytes each."""

_QUOTIENTS: Final = ("FloorDiv", "CleanDiv")
_REMAINDERS: Final = ("ModularIndexing", "Mod", "PythonMod")


def _torch(name: str) -> ModuleType:
    try:
        return import_module(f"torch.{name}")
    except ImportError as error:
        raise MissingTorchError from error


def _number(value: Native) -> Native:
    return sympy.Integer(value) if isinstance(value, int) else value


def _name(node: sympy.Basic) -> str:
    return type(node).__name__


def _is_settled(node: sympy.Basic, indices: Collection[sympy.Symbol]) -> bool:
    """Whether nothing that an index runs through is divided."""
    if not node.args:
        return True
    if _name(node) in (*_QUOTIENTS, *_REMAINDERS):
        return node.free_symbols.isdisjoint(indices)
    return all(_is_settled(part, indices) for part in node.args)


def _stays(node: sympy.Basic, indices: Collection[sympy.Symbol]) -> bool:
    """Whether a part stays as it is: a size, a choice without divisions, ``Identity``."""
    if not (node.is_Function and isinstance(node, sympy.Expr)):
        return False
    if _name(node) == "Identity":
        return True
    if node.free_symbols.isdisjoint(indices):
        return _name(node) not in _REMAINDERS
    return _name(node) in ("Where", "Abs") and _is_settled(node, indices)


def _kept(
    expressions: Iterable[Native], is_kept: Callable[[Native], bool], facts: Facts
) -> dict[Native, sympy.Symbol]:
    """Variables for the parts that are kept, which have the signs of these."""
    kept: dict[Native, sympy.Symbol] = {}
    stack = [*expressions]
    while stack:
        node = stack.pop()
        if not is_kept(node):
            stack += node.args
        elif node not in kept:
            signs = {"nonnegative": True} if _is_natural(node, facts) else {}
            kept[node] = sympy.Symbol(f"_k{len(kept)}", integer=True, **signs)
    return kept


def _read(node: Native, names: Mapping[Native, sympy.Symbol]) -> Native:
    """An expression in functions of this library, with names for some parts.

    Torch's functions are not built again: that takes as long as all the rest.
    """
    if node in names:
        return names[node]
    if not node.args:
        return node
    parts = [_read(part, names) for part in node.args]
    read = READERS.rewritten(node, parts)
    return node.func(*parts) if read is None else read


def _sum_asked(
    terms: Sequence[sympy.Expr], sizes: Mapping[sympy.Symbol, Native], *known: Native
) -> Native:
    """The terms simplified; what multiplies a single one is left out."""
    if len(terms) > 1:
        return _asked(sympy.Add(*terms), sizes, *known)
    factors = sympy.Mul.make_args(terms[0])
    outside = [factor for factor in factors if factor.free_symbols.isdisjoint(sizes)]
    inside = [factor for factor in factors if factor not in outside]
    if len(inside) == 1 and _is_plain(inside[0], sizes):
        return terms[0]
    return _multiplied_out(sympy.Mul(*outside, _asked(sympy.Mul(*inside), sizes, *known)))


def _is_plain(node: Native, sizes: Mapping[sympy.Symbol, Native]) -> bool:
    """Whether a part is the quotient of an index by a smaller number, ``x//3``: nothing to do."""
    if _name(node) not in _QUOTIENTS:
        return False
    dividend, divisor = node.args
    if dividend not in sizes or not divisor.is_Integer or divisor < 1:
        return False
    return not sizes[dividend].is_Integer or sizes[dividend] > divisor


def _asked(expression: Native, sizes: Mapping[sympy.Symbol, Native], *known: Native) -> Native:
    """An expression simplified, with names for indices and for what is kept."""
    indices = [index for index in sizes if index in expression.free_symbols]
    below = [sizes[index] for index in indices]
    names = dict(zip(indices, _places(len(indices)), strict=True))
    names |= _kept((expression, *below), lambda node: _stays(node, sizes), _known(*known))
    found, facts = _answer(*(_read(each, names) for each in (expression, *below)), known=known)

    def restored(node: Native) -> Native:
        is_held = _name(node) == "Identity" and not _is_settled(node, sizes)
        return node.func(_asked(*node.args, sizes, *known)) if is_held else node

    return _TorchWriter(facts, {name: restored(node) for node, name in names.items()}).written(
        found
    )


@lru_cache(maxsize=_REMEMBERED)
def _answer(
    expression: Native, *sizes: Native, known: tuple[Native, Native]
) -> tuple[Native, Facts]:
    """The simplified expression of places, and what is known of them."""
    below = _below(zip(_places(len(sizes)), sizes, strict=True))
    facts = _known(*known) & Facts(below)
    return _simplest(expression, facts), facts


def _simplest(expression: Native, facts: Facts) -> Native:
    """The cheapest expression as a sum of products.

    Only dividends of remainders have to be natural, because ``FloorDiv`` rounds down.
    """
    found = simplification.simplify(expression, facts)
    if not all(_is_natural(remainder.args[0], facts) for remainder in found.atoms(Mod)):
        found = simplification.simplify(expression, facts, target="torch")
    return _flat(found)


def _is_natural(number: sympy.Expr, facts: Facts) -> bool:
    if number.is_nonnegative:
        return True
    least = simplification.bounds_of(number, facts).lower
    return least is not None and least >= 0


@lru_cache(maxsize=_REMEMBERED)
def _places(count: int) -> tuple[sympy.Symbol, ...]:
    return tuple(sympy.Symbol(f"_{n}", integer=True, nonnegative=True) for n in range(count))


def _below(ranges: Iterable[tuple[sympy.Symbol, Native]]) -> dict[sympy.Symbol, EndsLike]:
    """Inductor has variables of empty ranges, too; they are 0."""
    return {v: (0, max(0, size - 1) if size.is_Integer else size - 1) for v, size in ranges}


def _ranges_in(environment: Native) -> tuple[tuple[sympy.Symbol, Native], ...]:
    return tuple(environment.var_to_range.items())


@lru_cache(maxsize=_REMEMBERED)
def _known(ranges: Native, axioms: Native) -> Facts:
    """Facts of an environment; they are read once, and again when it knows more."""
    known = Facts({variable: _ends(interval) for variable, interval in ranges if interval.is_int})
    for axiom in filter(_is_simple, axioms):
        with suppress(ConversionError):
            known &= Facts(constraints=[axiom])
    return known


def _is_simple(axiom: Native) -> bool:
    """Whether a guard is about sums, or about a size and its divisor.

    Products of sizes, which guards are full of, helped in no call and cost more than all else.
    """
    return axiom.is_Relational and all(
        factor.is_Atom
        or (_name(factor) in _REMAINDERS and all(part.is_Atom for part in factor.args))
        for side in axiom.args
        for term in sympy.Add.make_args(side)
        for _, factor in [term.as_coeff_Mul()]
    )


def _ends(interval: Native) -> EndsLike:
    """Infinities are no integers."""
    ends = map(_number, (interval.lower, interval.upper))
    lower, upper = (int(end) if end.is_Integer else None for end in ends)
    return lower, upper


# What is written.


def _multiplied_out(expression: Native) -> Native:
    """The expression as a sum of products; functions are not looked into."""
    terms = sympy.Add.make_args(expression)
    if all(map(_is_product, terms)):
        return expression
    return sympy.Add(*(sympy.expand(term, deep=False) for term in terms))


def _is_product(term: sympy.Expr) -> bool:
    return not any(
        factor.is_Add or (factor.is_Pow and factor.args[0].is_Add)
        for factor in sympy.Mul.make_args(term)
    )


def _flat(node: Native) -> Native:
    """An expression whose sums are sums of products, inside and out, with remainders."""
    if not node.args:
        return node
    parts = [_flat(part) for part in node.args]
    same = all(part is old for part, old in zip(parts, node.args, strict=True))
    made = node if same else node.func(*parts)
    return _with_remainders(_multiplied_out(made)) if made.is_Add or made.is_Mul else made


def _with_remainders(expression: sympy.Expr) -> sympy.Expr:
    """A sum of products, with ``c*(n mod d)`` in place of ``c*n - c*d*(n // d)``."""
    terms = dict.fromkeys(sympy.Add.make_args(expression))
    quotients = dict.fromkeys(
        factor
        for term in terms
        for factor in sympy.Mul.make_args(term)
        if isinstance(factor, FloorDiv)
    )
    for quotient in quotients:
        for term in (term for term in terms if quotient in sympy.Mul.make_args(term)):
            for dividend, divisor in _readings(quotient, quotients):
                factor = -term / quotient / divisor
                needed = {term, *sympy.Add.make_args(_multiplied_out(factor * dividend))}
                if _is_whole(factor) and needed <= terms.keys():
                    rest = (each for each in terms if each not in needed)
                    return _with_remainders(sympy.Add(*rest, factor * Mod(dividend, divisor)))
    return expression


def _is_whole(ratio: sympy.Expr) -> bool:
    return sympy.fraction(ratio)[1] is sympy.S.One


def _readings(
    quotient: FloorDiv, quotients: Collection[FloorDiv]
) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Dividend and divisor; also of quotients of quotients that are there, ``(n // 4) // k``."""
    dividend, divisor = quotient.args
    yield dividend, divisor
    for other in quotients:
        smaller = divisor / other.args[1]
        if other.args[0] == dividend and other != quotient and _is_whole(smaller):
            yield other, smaller


class _TorchWriter:
    """Writes expressions of this library in torch's functions."""

    def __init__(self, facts: Facts, known: Mapping[Native, Native] | None = None) -> None:
        self._facts = facts
        self._known: dict[Native, Native] = dict(known or {})
        self._functions = _torch("utils._sympy.functions")

    def written(self, node: sympy.Basic) -> Native:
        """The expression in torch's functions."""
        if node not in self._known:
            self._known[node] = self._written(node)
        return self._known[node]

    def _written(self, node: Native) -> Native:
        if not node.args:
            return node
        if isinstance(node, Mod):
            return self._remainder(*node.args)
        parts = [self.written(part) for part in node.args]
        if isinstance(node, sympy.Piecewise):
            return self._choice(*parts)
        name = _NAMES.get(node.func)
        return (getattr(self._functions, name) if name else node.func)(*parts)

    def _remainder(self, dividend: sympy.Expr, divisor: sympy.Expr) -> Native:
        if not (_is_natural(dividend, self._facts) and _is_natural(divisor, self._facts)):
            return self._functions.PythonMod(self.written(dividend), self.written(divisor))
        digit = dividend, sympy.S.One
        if isinstance(dividend, FloorDiv) and _is_natural(dividend.args[0], self._facts):
            digit = dividend.args
        return self._functions.ModularIndexing(*map(self.written, (*digit, divisor)))

    def _choice(self, *pairs: Native) -> Native:
        (value, _), *others = reversed(pairs)
        for chosen, condition in others:
            value = self._functions.Where(condition, chosen, value)
        return value


_NAMES: Final[Mapping[type, str]] = {
    FloorDiv: "FloorDiv",
    CeilDiv: "CeilDiv",
    Min: "Min",
    Max: "Max",
    BitAnd: "BitwiseFn_bitwise_and",
    BitOr: "BitwiseFn_bitwise_or",
    BitXor: "BitwiseFn_bitwise_xor",
}
"""Functions of torch that have the values of these everywhere."""

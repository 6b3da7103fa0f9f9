"""Forms, on which everything computes: integer linear combinations of interned atoms.

A :class:`Form` is ``constant + c1*atom1 + ... + cn*atomn`` with distinct atoms and non-zero integer
coefficients. An :class:`Atom` is a variable, a quotient, a remainder, a minimum or maximum, a
product, or a foreign expression; equal atoms are one object, so forms compare by a few machine
words. The constructors here only collect like terms and fold constants: what the terms *mean* under
bounds is the business of :mod:`simplifier.canonical.scope`.
"""

from __future__ import annotations

import enum
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from math import gcd
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from weakref import ref

from simplifier.limits import MAX_DEPTH, MAX_QUOTIENTS
from simplifier.tools.late import sympy

Value = TypeVar("Value")


class AtomKind(enum.IntEnum):
    """Kind of an atom; the numbers order atoms of different kinds."""

    VARIABLE = 0
    FLOORDIV = 1
    """Quotient by a constant, rounded down."""
    MAX = 2
    PRODUCT = 3
    QUOTIENT = 4
    """Quotient by a divisor that is not a constant, or is zero, rounded down."""
    MOD = 5
    CEILDIV = 6
    MIN = 7
    OPAQUE = 8
    """A foreign integer-valued sympy expression that is not looked into."""
    SUM = 9
    """A sum that stands for itself, where multiplying it out would leave too many terms."""
    NONNEGATIVE = 10
    """1 where the form is at least 0, else 0."""
    ZERO = 11
    """1 where the form is 0, else 0."""
    AND = 12
    """1 where all conditions are 1, else 0; ``not c`` is ``1 - c``."""
    SELECT = 13
    """The second form where the first, a condition, is 1; the third where it is 0."""
    BITAND = 14
    BITOR = 15
    BITXOR = 16
    """Bit by bit, in two's complement."""
    CALL = 17
    """A foreign function of forms."""


for _kind in AtomKind:
    # As Python 3.12 does: before, each access to a member calls a function.
    type.__setattr__(AtomKind, _kind.name, _kind)

VARIABLE: Final = AtomKind.VARIABLE
FLOORDIV: Final = AtomKind.FLOORDIV
MAX: Final = AtomKind.MAX
"""The commonest kinds, asked for all the time."""

EXTREMA: Final = (AtomKind.MIN, AtomKind.MAX)
CONDITIONS: Final = (AtomKind.NONNEGATIVE, AtomKind.ZERO, AtomKind.AND)
"""Atoms that are 1 where they are true, and 0 elsewhere."""
BITWISE: Final = (AtomKind.BITAND, AtomKind.BITOR, AtomKind.BITXOR)
FOREIGN: Final = (AtomKind.OPAQUE, AtomKind.CALL)
LOGICAL: Final = frozenset({*CONDITIONS, AtomKind.SELECT, *BITWISE, AtomKind.CALL})
"""Opaque atoms: laws of arithmetic do not look into them."""

Key: TypeAlias = "tuple[object, ...]"
Content: TypeAlias = "tuple[AtomKind | str | Key, ...]"
"""The identity of an atom: its kind, its name and the keys of its arguments."""

_REMEMBERED_NAMES = 4096
_NUMBERS = re.compile(r"(\d+)")
_MAX_INSIDE = 100
"""An atom keeps the atoms inside it if there are no more, so that none holds very many."""

_NESTED_ORDER_DEPTH = 40
"""Deeper atoms are ordered by a digest, so that comparing them needs no deep recursion."""


class Digits(NamedTuple):
    """Digits that a division reads of a number: from ``low`` up to ``high``, 0 for no end.

    The sign is -1 where they are counted from the other end. ``number`` is the same for numbers
    that differ by a constant.
    """

    number: Key
    source: Form
    low: int
    high: int
    sign: int


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class Atom:
    """One interned term of a form. Compare with ``is``.

    ``arguments`` holds numerator and divisor, the operands of an extremum, or the factors of a
    product; ``name`` the name of a variable, or tells a foreign function or expression from others,
    ``function`` is the function of sympy that it is; ``divisor`` the constant divisor of a quotient
    or remainder (0 where it is not a non-zero constant); ``order`` sorts atoms by structure alone,
    whatever was built first; ``inside`` holds the atoms inside it in postorder, ``None`` if they
    are many. ``digits`` are kept by :mod:`simplifier.extraction.cost`, ``expression`` by
    :mod:`simplifier.expr.sympy`, once asked for.
    """

    kind: AtomKind
    name: str
    arguments: tuple[Form, ...]
    expression: sympy.Expr | None
    function: type[sympy.Function] | None
    numerator: Form = field(init=False)
    """The dividend of a quotient or remainder; the form compared with zero."""
    divisor: int = field(init=False)
    depth: int = field(init=False)
    order: Key = field(init=False)
    digits: tuple[Digits, ...] = field(default=(), init=False)
    inside: tuple[Atom, ...] | None = field(init=False)
    _digest: str = field(default="", init=False)

    def __post_init__(self) -> None:
        kind, name, arguments = self.kind, self.name, self.arguments
        if arguments:
            self.numerator = arguments[0]
        is_by_constant = kind in _BY_CONSTANT and not arguments[1].terms
        self.divisor = divisor = arguments[1].constant if is_by_constant else 0
        self.depth = depth = 1 + _depth(arguments)
        self.inside = _inside(arguments) if arguments else ()
        if kind is VARIABLE:
            self.order = (kind, 0, natural_order(name))
        elif depth > _NESTED_ORDER_DEPTH:
            self.order = (kind, depth, self.digest())
        elif divisor:
            self.order = (kind, depth, divisor, *arguments[0].order)
        else:
            parts = [part for argument in arguments for part in argument.order]
            self.order = (kind, depth, name or 0, *parts)

    def __lt__(self, other: Atom) -> bool:
        return self.order < other.order

    def __repr__(self) -> str:
        return f"<{self.kind.name.lower()} {Form(0, {self: 1})}>"

    def __reduce__(self) -> tuple[Callable[[Form], Atom], tuple[Form]]:
        return attrgetter("only_atom"), (Form(0, {self: 1}),)

    def digest(self) -> str:
        """A name for the structure that is the same in every process."""
        if not self._digest:
            # Inner atoms come first, so that no call goes deeper than one level.
            for atom in postorder(self.arguments, skip=attrgetter("_digest")):
                atom.digest()
            content = [f"{self.kind:d}{self.name}"]
            for argument in self.arguments:
                terms = [f"{factor:x}*{atom.digest()}" for atom, factor in argument.terms.items()]
                content += [f"{argument.constant:x}", *terms, ";"]
            self._digest = blake2b("|".join(content).encode(), digest_size=16).hexdigest()
        return self._digest


_BY_CONSTANT = frozenset({AtomKind.FLOORDIV, AtomKind.MOD, AtomKind.CEILDIV})


@lru_cache(maxsize=_REMEMBERED_NAMES)
def natural_order(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key that puts ``d2`` before ``d10``: of two numbers the shorter one comes first."""
    pieces = _NUMBERS.split(name)
    return tuple((len(piece) if at % 2 else 0, piece) for at, piece in enumerate(pieces))


@dataclass(eq=False, repr=False, slots=True)
class Form:
    """An immutable ``constant + sum(coefficient * atom)``.

    ``terms`` is sorted by the atoms' order and never holds a zero; nobody changes it after
    construction. ``cost`` and ``expression`` are kept by :mod:`simplifier.extraction.cost` and
    :mod:`simplifier.expr.sympy` once somebody asks for them.

    >>> x, y = variable("x"), variable("y")
    >>> (x + y) * 2 - y
    Form(x * 2 + y)
    """

    constant: int
    terms: dict[Atom, int]
    _key: Key | None = field(default=None, init=False)
    cost: int | None = field(default=None, init=False)
    expression: sympy.Expr | None = field(default=None, init=False)

    @property
    def key(self) -> Key:
        """A hashable value that is equal for equal forms alone."""
        if self._key is None:
            terms = self.terms
            self._key = (*terms, *terms.values(), self.constant)
        return self._key

    @property
    def order(self) -> Key:
        """Sorts forms by structure alone, as atoms do."""
        return tuple(chain.from_iterable(self.terms.items())), self.constant

    @property
    def depth(self) -> int:
        """Levels of nested atoms; a variable has depth 0, a constant -1."""
        return _depth((self,))

    @property
    def is_constant(self) -> bool:
        """Whether no atom is left."""
        return not self.terms

    @property
    def is_affine(self) -> bool:
        """Whether every term is a variable."""
        for atom in self.terms:  # noqa: SIM110 - twice as fast as all(), and asked all the time
            if atom.kind is not VARIABLE:
                return False
        return True

    @property
    def has_quotient_or_maximum(self) -> bool:
        """Whether some term is a quotient by a constant, or a maximum."""
        for atom in self.terms:  # noqa: SIM110 - as above
            if atom.kind is FLOORDIV or atom.kind is MAX:
                return True
        return False

    @property
    def has_positive_term(self) -> bool:
        """Whether the constant or some coefficient is positive."""
        return self.constant > 0 or max(self.terms.values(), default=0) > 0

    @property
    def only_atom(self) -> Atom | None:
        """The atom, where the form is just that."""
        if self.constant == 0 and len(self.terms) == 1:
            ((atom, factor),) = self.terms.items()
            if factor == 1:
                return atom
        return None

    def single_variable(self) -> str | None:
        """The name, where the form is just one variable."""
        atom = self.only_atom
        return atom.name if atom is not None and atom.kind is VARIABLE else None

    def plus(self, other: Form, factor: int = 1) -> Form:
        """``self + factor * other``."""
        if not factor:
            return self
        if not other.terms:
            return self.plus_constant(factor * other.constant)
        if not self.terms:
            return other.times(factor).plus_constant(self.constant)
        terms = dict(self.terms)
        grown = accumulate(terms, other, factor)
        return Form(self.constant + factor * other.constant, in_order(terms) if grown else terms)

    def plus_atom(self, atom: Atom, factor: int = 1) -> Form:
        """``self + factor * atom``."""
        value = self.terms.get(atom, 0) + factor
        if not value:
            return self.without(atom)
        return Form(self.constant, in_order({**self.terms, atom: value}))

    def plus_constant(self, constant: int) -> Form:
        """``self + constant``."""
        return Form(self.constant + constant, self.terms) if constant else self

    def times(self, factor: int) -> Form:
        """``factor * self``."""
        if factor == 1:
            return self
        if not factor:
            return ZERO
        terms = {atom: value * factor for atom, value in self.terms.items()}
        return Form(self.constant * factor, terms)

    def exactly_divided(self, divisor: int) -> Form:
        """``self / divisor``, where it divides every coefficient; the constant is rounded down."""
        terms = {atom: value // divisor for atom, value in self.terms.items()}
        return Form(self.constant // divisor, terms)

    def without(self, *atoms: Atom) -> Form:
        """The form less the terms of these atoms."""
        terms = dict(self.terms)
        for atom in atoms:
            terms.pop(atom, None)
        return Form(self.constant, terms)

    def __add__(self, other: Form | int) -> Form:
        return self.plus(other) if isinstance(other, Form) else self.plus_constant(other)

    __radd__ = plus_constant

    def __sub__(self, other: Form | int) -> Form:
        return self.plus(other, -1) if isinstance(other, Form) else self.plus_constant(-other)

    def __rsub__(self, other: int) -> Form:
        return self.times(-1).plus_constant(other)

    __mul__ = __rmul__ = times

    def __neg__(self) -> Form:
        return self.times(-1)

    def __floordiv__(self, divisor: int) -> Form:
        """The rounded quotient by a constant that is not zero; only constants are evaluated."""
        if divisor == 1 or not self.terms:
            return Form(self.constant // divisor, self.terms)
        return Form(0, {atom_of(FLOORDIV, (self, constant(divisor))): 1})

    def __mod__(self, divisor: int) -> Form:
        """The remainder by a constant that is not zero; only constants are evaluated."""
        if not self.terms:
            return Form(self.constant % divisor, {})
        return Form(0, {atom_of(AtomKind.MOD, (self, constant(divisor))): 1})

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Form)
            and self.constant == other.constant
            and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return hash(self._key or self.key)

    def __str__(self) -> str:
        from simplifier.expr.printer import format_form  # noqa: PLC0415 - forms and printer are one recursion

        return format_form(self)

    def __repr__(self) -> str:
        return f"Form({self})"

    def __reduce__(self) -> tuple[Callable[[_Program, _Row], Form], tuple[_Program, _Row]]:
        return _assemble, _disassemble(self)


def _depth(forms: Iterable[Form]) -> int:
    depth = -1
    for form in forms:
        for atom in form.terms:
            if atom.depth > depth:  # noqa: PLR1730 - twice as fast as max()
                depth = atom.depth
    return depth


def accumulate(terms: dict[Atom, int], form: Form, factor: int = 1) -> bool:
    """Add the terms of ``factor * form`` to ``terms`` in place; whether there is a new atom."""
    grown = False
    for atom, value in form.terms.items():
        if atom not in terms:
            terms[atom] = factor * value
            grown = True
        elif total := terms[atom] + factor * value:
            terms[atom] = total
        else:
            del terms[atom]
    return grown


def in_order(terms: dict[Atom, int]) -> dict[Atom, int]:
    """The same terms, sorted by the atoms' order."""
    if len(terms) == 2:  # noqa: PLR2004 - most sums have two terms
        first, second = terms
        is_turned = second.order < first.order
        return {second: terms[second], first: terms[first]} if is_turned else terms
    before: Key = ()
    for atom in terms:
        if atom.order < before:
            break
        before = atom.order
    else:
        return terms
    return {atom: terms[atom] for atom in sorted(terms, key=_ORDER)}


_ORDER, _KEY = attrgetter("order"), attrgetter("key")


def collected(constant: int, terms: dict[Atom, int]) -> Form:
    """A form from coefficients gathered in any order; zeros are dropped."""
    if not terms:
        return Form(constant, terms)
    return Form(constant, in_order({atom: value for atom, value in terms.items() if value}))


ZERO = Form(0, {})
ONE = Form(1, {})


@lru_cache(maxsize=_REMEMBERED_NAMES, typed=True)
def constant(value: int) -> Form:
    """The form of an integer."""
    return Form(value, {})


# Interning: one object for each atom, kept only as long as somebody holds it.

_FIRST_SWEEP = 1 << 14
"""How many atoms there are before the table is first looked through for dead ones."""


class _Atoms:
    """The atoms that exist, by content. Entries of dead ones go when the table has doubled."""

    def __init__(self) -> None:
        self._references: dict[Content, ref[Atom]] = {}
        self._next_sweep = _FIRST_SWEEP
        self._lock = threading.Lock()

    def intern(
        self,
        kind: AtomKind,
        arguments: tuple[Form, ...] = (),
        name: str = "",
        expression: sympy.Expr | None = None,
        function: type[sympy.Function] | None = None,
    ) -> Atom:
        """The one atom of this content."""
        content = (kind, name, *map(_KEY, arguments))
        reference = self._references.get(content)
        known = None if reference is None else reference()
        if known is not None:
            return known
        fresh = Atom(kind, name, arguments, expression, function)
        with self._lock:  # another thread may have been faster
            reference = self._references.get(content)
            known = None if reference is None else reference()
            if known is None:
                self._references[content] = ref(fresh)
                if len(self._references) > self._next_sweep:
                    self._sweep()
        return known or fresh

    def _sweep(self) -> None:
        # The contents hold the atoms inside, so that they die one sweep later.
        references = self._references.items()
        for content in [content for content, reference in references if reference() is None]:
            del self._references[content]
        self._next_sweep = max(_FIRST_SWEEP, 2 * len(self._references))


atom_of: Final = _Atoms().intern
"""The atom of an operation on forms, as it stands."""


def variable_atom(name: str) -> Atom:
    """The atom of a variable."""
    return atom_of(VARIABLE, name=name)


@lru_cache(maxsize=_REMEMBERED_NAMES)
def variable(name: str) -> Form:
    """The form of a variable."""
    return Form(0, {variable_atom(name): 1})


def opaque(name: str, expression: sympy.Expr | None = None) -> Form:
    """A foreign integer expression that is not taken apart; ``name`` tells it from others.

    Without an expression it is any integer, of this name.
    """
    return Form(0, {atom_of(AtomKind.OPAQUE, name=name, expression=expression): 1})


def call(name: str, function: type[sympy.Function], arguments: tuple[Form, ...]) -> Form:
    """A foreign function of forms; ``name`` tells the function from others."""
    return Form(0, {atom_of(AtomKind.CALL, arguments, name, function=function): 1})


# Walking and combining, without recursion: forms may be nested as deep as memory allows.


def postorder(forms: Iterable[Form], skip: Callable[[Atom], bool] | None = None) -> list[Atom]:
    """Every atom of the forms once, each after the atoms inside it.

    Those to skip are left out, with what is inside them.
    """
    outer = [atom for form in forms for atom in form.terms]
    if skip is None:
        whole = _closed(outer)
        if whole is not None:
            return [*whole]
    done: dict[Atom, None] = {}
    stack: list[tuple[Atom, bool]] = [(atom, False) for atom in reversed(outer)]
    while stack:
        atom, is_open = stack.pop()
        if atom in done or (skip is not None and skip(atom)):
            continue
        if is_open or not atom.arguments:
            done[atom] = None
            continue
        stack.append((atom, True))
        inside = [inner for argument in atom.arguments for inner in argument.terms]
        stack += [(inner, False) for inner in inside if inner not in done]
    return list(done)


def _inside(arguments: tuple[Form, ...]) -> tuple[Atom, ...] | None:
    """The atoms in arguments in postorder, those of the last one first; ``None`` if many."""
    outer: list[Atom] = []
    for argument in reversed(arguments):
        if argument.terms:
            outer += reversed(argument.terms)
    whole = _closed(outer)
    return None if whole is None or len(whole) > _MAX_INSIDE else tuple(whole)


def _closed(outer: Iterable[Atom]) -> Collection[Atom] | None:
    """Atoms and those inside them in postorder; ``None`` if some atom does not keep the latter."""
    found: list[Atom] = []
    for atom in outer:
        inside = atom.inside
        if inside:
            found += inside
        elif inside is None:
            return None
        found.append(atom)
    return dict.fromkeys(found) if len(found) > 1 else found


def negated(condition: Form) -> Atom | None:
    """The atom ``c``, if a form is ``1 - c`` for a condition."""
    if condition.constant == 1 and len(condition.terms) == 1:
        ((atom, factor),) = condition.terms.items()
        if factor == -1 and atom.kind in CONDITIONS:
            return atom
    return None


def factors(atom: Atom) -> tuple[Atom, ...]:
    """The atoms that a monomial multiplies; a product of sums, as it is spelled, counts as one."""
    if atom.kind is not AtomKind.PRODUCT:
        return (atom,)
    found: list[Atom] = []
    for argument in atom.arguments:
        if argument.constant or len(argument.terms) > 1:
            return (atom,)
        found += argument.terms
    return tuple(found)


def variables_of(forms: Iterable[Form]) -> Iterator[str]:
    """Names of the variables that occur, each once."""
    return (atom.name for atom in postorder(forms) if atom.kind is VARIABLE)


def content(form: Form) -> int:
    """The greatest common divisor of the coefficients; 0 for a constant."""
    return gcd(*form.terms.values())


def common_weight(terms: Mapping[Atom, int], source: Form) -> int:
    """Number of times that the whole source is contained; 0 if it is not."""
    weight = 0
    for atom, value in source.terms.items():
        contained = terms.get(atom)
        if contained is None:
            return 0
        if not weight:
            weight, remainder = divmod(contained, value)
            if remainder:
                return 0
        elif contained != weight * value:
            return 0
    return weight


def weighted_sum(parts: Iterable[tuple[int, Form]]) -> Form:
    """The sum of factors times forms. Adding one by one would sort the terms every time.

    >>> print(weighted_sum([(2, variable("b")), (0, variable("c")), (5, variable("a"))]))
    a * 5 + b * 2
    """
    total = 0
    terms: dict[Atom, int] = {}
    for factor, form in parts:
        total += factor * form.constant
        accumulate(terms, form, factor)
    return collected(total, terms)


def combine(form: Form, values: Mapping[Atom, Form]) -> Form:
    """The linear combination with a form in place of every atom."""
    for atom in form.terms:
        value = values[atom]
        if value.constant or len(value.terms) != 1 or value.terms.get(atom) != 1:
            break
    else:
        return form
    if len(form.terms) == 1 and not form.constant:
        ((atom, factor),) = form.terms.items()
        return values[atom].times(factor)
    total = form.constant
    terms: dict[Atom, int] = {}
    for atom, factor in form.terms.items():
        value = values[atom]
        total += factor * value.constant
        accumulate(terms, value, factor)
    return Form(total, in_order(terms))


# Pickling as a flat program, so that depth costs no recursion and shared parts are stored once.

_Row: TypeAlias = "tuple[int, tuple[tuple[int, int], ...]]"
_Step: TypeAlias = (
    "tuple[int, tuple[_Row, ...], str, sympy.Expr | None, type[sympy.Function] | None]"
)
_Program: TypeAlias = "tuple[_Step, ...]"


def _disassemble(form: Form) -> tuple[_Program, _Row]:
    atoms = postorder((form,))
    numbers = {atom: number for number, atom in enumerate(atoms)}

    def row(part: Form) -> _Row:
        return part.constant, tuple((numbers[atom], factor) for atom, factor in part.terms.items())

    def step(atom: Atom) -> _Step:
        # The expression of other atoms is a cache.
        expression = atom.expression if atom.kind is AtomKind.OPAQUE else None
        return int(atom.kind), tuple(map(row, atom.arguments)), atom.name, expression, atom.function

    return tuple(map(step, atoms)), row(form)


def _assemble(program: _Program, result: _Row) -> Form:
    atoms: list[Atom] = []

    def form(row: _Row) -> Form:
        return Form(row[0], in_order({atoms[number]: factor for number, factor in row[1]}))

    for kind, rows, name, expression, function in program:
        atoms.append(atom_of(AtomKind(kind), tuple(map(form, rows)), name, expression, function))
    return form(result)


# One walk over forms: the value of an atom follows from the values of its arguments.
#
# What a value is, the caller says: an integer or an array (evaluation), a form (substitution), an
# interval (bounds), a text or an expression of another library (export). Nothing recurses, so
# forms may be nested as deep as memory allows, and what several forms share is worked out once.


def fold(
    forms: Iterable[Form],
    of_atom: Callable[[Atom, tuple[Value, ...]], Value],
    of_form: Callable[[Form, Mapping[Atom, Value]], Value],
    values: dict[Atom, Value] | None = None,
) -> dict[Atom, Value]:
    """The values of all atoms inside some forms.

    ``of_atom`` gives the value of an atom from those of its arguments, ``of_form`` that of a form
    from those of its atoms. ``values`` holds what is known already, and takes what is found.

    >>> from simplifier.expr.text import parse_form
    >>> form = parse_form("(x * 2) mod 8 + max(x, y)")
    >>> depths = fold(
    ...     [form],
    ...     lambda atom, inner: 1 + max(inner, default=0),
    ...     lambda form, depths: max(map(depths.__getitem__, form.terms), default=0),
    ... )
    >>> sorted(depths.values())
    [1, 1, 2, 2]
    """
    atoms = postorder(forms, skip=values.__contains__ if values else None)
    values = {} if values is None else values
    for atom in atoms:
        arguments = tuple([of_form(argument, values) for argument in atom.arguments])
        values[atom] = of_atom(atom, arguments)
    return values


def evaluate(
    forms: Iterable[Form],
    variables: Mapping[str, Any],
    operations: Mapping[AtomKind, Callable[[Atom, tuple[Any, ...]], Any]],
    known: dict[Atom, Any] | None = None,
) -> tuple[Any, ...]:
    """The values of forms where the variables have some values: integers, or arrays of them.

    ``operations`` says what each kind of atom computes from the values of its arguments; those of
    atoms that are ``known`` are not computed.

    >>> from simplifier.expr.form import AtomKind
    >>> from simplifier.expr.text import parse_form
    >>> remainder = {AtomKind.MOD: lambda atom, values: values[0] % values[1]}
    >>> evaluate([parse_form("(x + 5) mod 8 - y")], {"x": 6, "y": 2}, remainder)
    (1,)
    """
    forms = tuple(forms)

    def of_atom(atom: Atom, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401 - whatever is computed with
        if atom.kind is VARIABLE:
            return variables[atom.name]
        return operations[atom.kind](atom, arguments)

    values = fold(forms, of_atom, linear_combination, known)
    return tuple(linear_combination(form, values) for form in forms)


def linear_combination(form: Form, values: Mapping[Atom, Any]) -> Any:  # noqa: ANN401 - as above
    """The value of a form whose atoms have these values: numbers, or others that add like them."""
    total = None
    for atom, factor in form.terms.items():
        value = values[atom]
        term = value if factor == 1 else value * factor
        total = term if total is None else total + term
    if total is None:
        return form.constant
    return total + form.constant if form.constant else total


# How large a form is: laws do not look into a form that is too deep or has too many quotients.


def is_deep(form: Form) -> bool:
    """Whether operations are nested too deeply in a form to look into it."""
    for atom in form.terms:  # noqa: SIM110 - twice as fast as any(), and asked all the time
        if atom.depth > MAX_DEPTH:
            return True
    return False


def is_crowded(form: Form) -> bool:
    """Whether a form holds more quotients than are compared with each other."""
    if len(form.terms) <= MAX_QUOTIENTS:
        return False
    return sum(atom.kind is FLOORDIV for atom in form.terms) > MAX_QUOTIENTS
